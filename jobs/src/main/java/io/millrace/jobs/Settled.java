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
   * It came too late: the job was taken back, given to another, cancelled, or deleted, and nothing
   * happened. Or the store would never take it, and the attempt has failed.
   *
   * @param reason for people
   */
  record Refused(String reason) implements Settled {}

  /**
   * It could not be stored now, and nothing happened: to be tried again later.
   *
   * @param reason what is wrong, for people
   */
  record Postponed(String reason) implements Settled {}
}
