package io.millrace.jobs;

/** What became of a {@link Report}. */
public sealed interface Settled {
  /**
   * It is stored.
   *
   * @param job the job as it is now
   */
  record Accepted(Job job) implements Settled {}

  /**
   * It came too late: the job was taken back, given to another, cancelled, or deleted. Nothing
   * happened.
   *
   * @param reason for people
   */
  record Refused(String reason) implements Settled {}
}
