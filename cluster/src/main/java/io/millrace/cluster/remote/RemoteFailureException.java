package io.millrace.cluster.remote;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.remote.outcome.RemoteFailure;

/** A lambda failed on the member that ran it. */
public final class RemoteFailureException extends ClusterException {
  private static final long serialVersionUID = 1;

  private final transient RemoteFailure failure;

  RemoteFailureException(String id, RemoteFailure failure) {
    super("lambda " + id + " failed: " + failure.type() + ": " + failure.message());
    this.failure = failure;
  }

  /** The failure on the member. */
  public RemoteFailure failure() {
    return failure;
  }
}
