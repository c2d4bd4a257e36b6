/** The two clocks that a member goes by. */
@NullMarked
package io.millrace.cluster.time;

import org.jspecify.annotations.NullMarked;
