/** Tests of sealing and opening lambdas. */
@NullMarked
package io.millrace.cluster.lambda;

import org.jspecify.annotations.NullMarked;
