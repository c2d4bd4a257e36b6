package io.millrace.cluster.documents;

import io.millrace.cluster.ClusterException;

/**
 * A change was sent and there was no answer in time. It may have been made, or may still be made.
 * To find out, read the document and compare it with what was written.
 */
public class UnclearOutcomeException extends ClusterException {
  private static final long serialVersionUID = 1;

  /** With a message for people. */
  public UnclearOutcomeException(String message) {
    super(message);
  }

  /** With a message for people, and what caused it. */
  public UnclearOutcomeException(String message, Throwable cause) {
    super(message, cause);
  }
}
