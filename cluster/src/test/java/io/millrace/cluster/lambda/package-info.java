/** Lambdas that cross, and those that do not. */
@NullMarked
package io.millrace.cluster.lambda;

import org.jspecify.annotations.NullMarked;
