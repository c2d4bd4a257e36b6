package io.millrace.cluster.lambda;

import io.millrace.cluster.ClusterException;

/** An envelope or its content was refused. The message says why. */
public final class RefusedLambdaException extends ClusterException {
  private static final long serialVersionUID = 1;

  /** With a message for people. */
  public RefusedLambdaException(String message) {
    super(message);
  }

  /** With a message for people, and what caused it. */
  public RefusedLambdaException(String message, Throwable cause) {
    super(message, cause);
  }
}
