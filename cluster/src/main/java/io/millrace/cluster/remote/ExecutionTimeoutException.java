package io.millrace.cluster.remote;

import io.millrace.cluster.ClusterException;

/** A lambda timed out. The message says why. */
public final class ExecutionTimeoutException extends ClusterException {
  private static final long serialVersionUID = 1;

  ExecutionTimeoutException(String message) {
    super(message);
  }
}
