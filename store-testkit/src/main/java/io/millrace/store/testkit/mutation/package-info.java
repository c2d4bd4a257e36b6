/**
 * Mutation tests: faults planted into compiled classes, to prove that a test detects them.
 *
 * <p>Production code needs no hooks for this. {@link io.millrace.store.testkit.mutation.Mutant}
 * loads the project's classes a second time, with the code of some methods changed, and runs a
 * simulation on them.
 */
@NullMarked
package io.millrace.store.testkit.mutation;

import org.jspecify.annotations.NullMarked;
