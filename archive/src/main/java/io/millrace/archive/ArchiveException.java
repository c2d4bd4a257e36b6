package io.millrace.archive;

import org.jspecify.annotations.Nullable;

/**
 * The exceptions of the archive. An instance of this class itself means that its database cannot be
 * reached or has failed; the same call may succeed later.
 */
public class ArchiveException extends RuntimeException {
  /** Has a message that a person can act on. */
  public ArchiveException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  /** A query took too long and was cancelled. */
  public static final class QueryTimeoutException extends ArchiveException {
    /** Says how long it was allowed to take. */
    public QueryTimeoutException(String message) {
      super(message, null);
    }
  }
}
