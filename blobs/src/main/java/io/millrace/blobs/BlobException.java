package io.millrace.blobs;

/** The root of the exceptions of this package: the message names the blob and what went wrong. */
public class BlobException extends RuntimeException {
  /** Has a message that a person can act on. */
  public BlobException(String message) {
    super(message);
  }

  /** Has a message that a person can act on, and the cause. */
  public BlobException(String message, Throwable cause) {
    super(message, cause);
  }
}
