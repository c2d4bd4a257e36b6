package io.millrace.graph;

/** Something is of another version than the caller has seen. Nothing has changed. */
public final class VersionException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** With both versions, for people. */
  public VersionException(String message) {
    super(message);
  }
}
