package io.millrace.cluster.example;

import io.millrace.cluster.ClusterException;

/** A line came too late: somebody with the same or a larger fencing token has written his. */
public class StaleFenceException extends ClusterException {
  private static final long serialVersionUID = 1;

  /** With a message for people. */
  public StaleFenceException(String message) {
    super(message);
  }
}
