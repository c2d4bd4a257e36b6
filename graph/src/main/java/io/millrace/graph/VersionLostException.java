package io.millrace.graph;

/** Changes after a version are not kept any more; read the graph and subscribe from there. */
public final class VersionLostException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** With the version asked for and the oldest there is, for people. */
  public VersionLostException(String message) {
    super(message);
  }
}
