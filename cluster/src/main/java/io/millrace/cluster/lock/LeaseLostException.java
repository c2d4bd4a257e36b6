package io.millrace.cluster.lock;

import io.millrace.cluster.ClusterException;

/** A lock was lost, or is not known to be held any more: what it protects must stop. */
public class LeaseLostException extends ClusterException {
  private static final long serialVersionUID = 1;

  /** With a message for people. */
  public LeaseLostException(String message) {
    super(message);
  }

  /** With a message for people, and what the work that must stop has thrown. */
  public LeaseLostException(String message, Throwable cause) {
    super(message, cause);
  }
}
