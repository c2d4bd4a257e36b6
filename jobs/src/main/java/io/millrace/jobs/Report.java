package io.millrace.jobs;

import io.millrace.blobs.Value;
import org.jspecify.annotations.Nullable;

/** How an attempt at a job ended. */
public sealed interface Report {
  /** Which attempt. */
  Assignment assignment();

  /**
   * The worker gave a result.
   *
   * @param assignment which attempt
   * @param result kept already, under {@link JobRegistry#resultName(Assignment)}
   */
  record Completed(Assignment assignment, Value result) implements Report {
    /**
     * Checks the result.
     *
     * @throws IllegalArgumentException when it is a blob though it is small enough for a commit
     */
    public Completed {
      JobRegistry.checkSize(result);
    }
  }

  /**
   * The worker failed, or was stuck.
   *
   * @param assignment which attempt
   * @param failure what is known of it
   */
  record Failed(Assignment assignment, Failure failure) implements Report {}

  /**
   * The worker went away or never began: the job is offered again at once, at its old place, and
   * this is no failure. A job that was returned too often for a reason of its own is failed.
   *
   * @param assignment which attempt
   * @param reason why the attempt counts as a return, for people, for example "its connection
   *     broke"; null if it does not count: the job was never sent, or nobody is to blame
   */
  record Returned(Assignment assignment, @Nullable String reason) implements Report {}

  /** What became of a {@link Report}. */
  public sealed interface Settled {
    /**
     * It is stored.
     *
     * @param job the job as it is now
     */
    record Accepted(Job job) implements Settled {}

    /**
     * It came too late: the job was taken back, given to another, cancelled, or deleted, and
     * nothing happened. Or the store would never take it, and the attempt has failed.
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
}
