package io.millrace.blobs;

/** The root of what this package throws: the message names the blob and what went wrong. */
public class BlobException extends RuntimeException {
  /** With a message that a person can act on. */
  public BlobException(String message) {
    super(message);
  }

  /** With a message that a person can act on, and what led to it. */
  public BlobException(String message, Throwable cause) {
    super(message, cause);
  }
}
