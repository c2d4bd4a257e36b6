package io.millrace.cluster.documents;

import io.millrace.cluster.ClusterException;

/** The documents cannot be reached or used. The failed request changed nothing. */
public class DocumentsUnavailableException extends ClusterException {
  private static final long serialVersionUID = 1;

  /** With a message for people. */
  public DocumentsUnavailableException(String message) {
    super(message);
  }

  /** With a message for people, and what caused it. */
  public DocumentsUnavailableException(String message, Throwable cause) {
    super(message, cause);
  }
}
