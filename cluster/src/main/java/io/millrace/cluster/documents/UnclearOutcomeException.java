package io.millrace.cluster.documents;

import io.millrace.cluster.ClusterException;

/**
 * A change was sent, and there was no answer in time: it may have been made, or may still be made.
 * A caller that needs to know reads the document and looks for what it wrote.
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
