package io.millrace.work.bulk;

/** A request about bulk actions was refused; nothing has changed. */
public class BulkException extends RuntimeException {
  /** Has a message that a person can act on. */
  public BulkException(String message) {
    super(message);
  }

  /** What was requested is invalid. */
  public static final class InvalidBulkException extends BulkException {
    /** Says what is wrong. */
    public InvalidBulkException(String message) {
      super(message);
    }
  }

  /** There is no such bulk action, or it is no longer kept. */
  public static final class NoBulkActionException extends BulkException {
    NoBulkActionException(String id) {
      super("there is no bulk action " + id);
    }
  }

  /** The state of a bulk action does not allow the request, or too many are running. */
  public static final class BulkStateException extends BulkException {
    BulkStateException(String message) {
      super(message);
    }
  }

  /** The store has no room. */
  public static final class BulkFullException extends BulkException {
    /** Has the message of the store. */
    public BulkFullException(String message) {
      super(message);
    }
  }

  /** A batch is too large for one transaction; a smaller one may fit. */
  public static final class BatchTooLargeException extends BulkException {
    /** Says what is too large. */
    public BatchTooLargeException(String message) {
      super(message);
    }
  }
}
