package io.millrace.store.testkit.mutation;

import java.util.function.LongConsumer;

/**
 * A bug that a test of many seeds must find, and how.
 *
 * @param bug what is wrong; the name of the test
 * @param mutant the code with it
 * @param finding what the message of the failure contains
 */
public record PlantedBug(String bug, Mutant mutant, String finding) {
  /**
   * Runs the test on the mutant, from seed 1, until it fails.
   *
   * @param seeds the most runs
   * @param run the test; see {@link Mutant#firstFailure}
   * @throws AssertionError if no run fails, or the first failure has another message
   */
  public void mustBeFound(int seeds, Class<? extends LongConsumer> run) {
    Mutant.Failure found = mutant.firstFailure(seeds, run);
    String message = String.valueOf(found.failure().getMessage());
    if (!message.contains(finding)) {
      throw new AssertionError(
          "seed %d: \"%s\" is not in: %s".formatted(found.seed(), finding, message),
          found.failure());
    }
  }

  @Override
  public String toString() {
    return bug;
  }
}
