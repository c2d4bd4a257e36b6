/**
 * What becomes of a command: pure functions of the state, the command, the time and a random
 * generator. {@link io.millrace.store.kernel.decisions.Decider} is the way in.
 */
@NullMarked
package io.millrace.store.kernel.decisions;

import org.jspecify.annotations.NullMarked;
