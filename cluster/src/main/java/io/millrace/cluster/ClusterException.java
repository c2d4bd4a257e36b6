package io.millrace.cluster;

/** Coordination failed. The message says why. */
public class ClusterException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** With a message for people. */
  public ClusterException(String message) {
    super(message);
  }

  /** With a message for people, and what caused it. */
  public ClusterException(String message, Throwable cause) {
    super(message, cause);
  }
}
