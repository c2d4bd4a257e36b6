/**
 * The decisions on commands: pure functions of the state, the command, the time and a random
 * generator. {@link io.millrace.store.kernel.decisions.Decider} is the entry point.
 */
@NullMarked
package io.millrace.store.kernel.decisions;

import org.jspecify.annotations.NullMarked;
