package io.millrace.jobs;

/** A failure of the job server. The message says what is wrong. */
public class JobsException extends RuntimeException {
  /** With a message for people. */
  public JobsException(String message) {
    super(message);
  }

  /** With a message for people, and what caused it. */
  public JobsException(String message, Throwable cause) {
    super(message, cause);
  }

  /** A submission, filter or message that is malformed or not allowed; nothing happened. */
  public static final class InvalidJobException extends JobsException {
    /** With a message that names what is wrong. */
    public InvalidJobException(String message) {
      super(message);
    }
  }

  /**
   * A submission was repeated whose job has left the store, by its end and the archive or because
   * it was deleted; nothing happened.
   */
  public static final class SubmittedBeforeException extends JobsException {
    private final transient JobId job;

    /** With the job that the first submission has made. */
    public SubmittedBeforeException(JobId job) {
      super("the submission has made the job " + job + " before, which has left the store");
      this.job = job;
    }

    /** The job that the first submission has made. */
    public JobId job() {
      return job;
    }
  }

  /** A job is in a status in which it cannot do what was asked; nothing happened. */
  public static final class JobStateException extends JobsException {
    /** With a message that names the job and its status. */
    public JobStateException(String message) {
      super(message);
    }
  }

  /**
   * The store has no room for what was asked; nothing happened. It succeeds once jobs were deleted.
   */
  public static final class JobsFullException extends JobsException {
    /** With the store's message. */
    public JobsFullException(String message) {
      super(message);
    }
  }
}
