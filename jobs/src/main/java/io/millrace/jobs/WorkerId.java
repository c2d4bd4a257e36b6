package io.millrace.jobs;

import io.millrace.jobs.JobsException.InvalidJobException;

/**
 * What a worker calls itself, the same over its connections and restarts.
 *
 * @param text 1 to 256 characters
 */
public record WorkerId(String text) {
  /** The most characters: 256. */
  public static final int MOST = 256;

  /**
   * Checks its length.
   *
   * @throws InvalidJobException when it is empty, too long, or holds half a surrogate pair
   */
  public WorkerId {
    if (text.isEmpty() || text.length() > MOST) {
      throw new InvalidJobException("a worker's id has 1 to " + MOST + " characters");
    }
    Submission.checkCharacters("a worker's id", text);
  }

  @Override
  public String toString() {
    return text;
  }
}
