/** What a leader does, by a clock that is moved by hand. */
@NullMarked
package io.millrace.cluster.leader;

import org.jspecify.annotations.NullMarked;
