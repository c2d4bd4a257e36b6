package io.millrace.cluster.lock;

import io.millrace.cluster.ClusterException;

/** A lock was lost, or is no longer known to be held. The work that it protects must stop. */
public class LeaseLostException extends ClusterException {
  private static final long serialVersionUID = 1;

  /** With a message for people. */
  public LeaseLostException(String message) {
    super(message);
  }

  /** With a message for people, and the exception that the stopped work threw. */
  public LeaseLostException(String message, Throwable cause) {
    super(message, cause);
  }
}
