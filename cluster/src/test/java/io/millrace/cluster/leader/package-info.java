/** Tests of the leader with a manual clock. */
@NullMarked
package io.millrace.cluster.leader;

import org.jspecify.annotations.NullMarked;
