package io.millrace.client.jobs;

import org.jspecify.annotations.Nullable;

/** A handler says that its job has failed, and why. */
public final class JobFailedException extends Exception {
  private static final long serialVersionUID = 1;

  private final @Nullable String logs;

  /**
   * A failure.
   *
   * @param info what went wrong, for people; the server keeps 1,000 characters
   * @param logs details; the last 64,000 characters are kept; null for none
   */
  public JobFailedException(String info, @Nullable String logs) {
    super(info);
    this.logs = logs;
  }

  /** Details; null for none. */
  public @Nullable String logs() {
    return logs;
  }
}
