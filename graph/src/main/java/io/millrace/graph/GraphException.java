package io.millrace.graph;

/**
 * What a graph throws. Itself: the stored graph is damaged, or the store did not do what was
 * needed. Its subtypes are refusals, after which nothing has changed.
 */
public class GraphException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** With a message that a person can act on. */
  public GraphException(String message) {
    super(message);
  }

  /** With a message that a person can act on, and the cause. */
  public GraphException(String message, Throwable cause) {
    super(message, cause);
  }

  /** The request is invalid. */
  public static final class InvalidGraphException extends GraphException {
    private static final long serialVersionUID = 1;

    /** With what is wrong. */
    public InvalidGraphException(String message) {
      super(message);
    }
  }

  /** A running command asked for more than it may change. */
  public static final class NotAllowedException extends GraphException {
    private static final long serialVersionUID = 1;

    /** With what is not allowed. */
    public NotAllowedException(String message) {
      super(message);
    }
  }

  /** There is no such node, or no longer. */
  public static final class UnknownNodeException extends GraphException {
    private static final long serialVersionUID = 1;

    /** For a node. */
    public UnknownNodeException(NodeId id) {
      super("there is no node " + id);
    }
  }

  /** A node has no data of this key. */
  public static final class UnknownKeyException extends GraphException {
    private static final long serialVersionUID = 1;

    /** For a key of a node. */
    public UnknownKeyException(NodeId id, String key) {
      super("node " + id + " has no data \"" + key + "\"");
    }
  }

  /** The state of a node does not allow the request. */
  public static final class NodeStateException extends GraphException {
    private static final long serialVersionUID = 1;

    /** With what is in the way. */
    public NodeStateException(String message) {
      super(message);
    }
  }

  /** Something has another version than the caller expects. */
  public static final class VersionException extends GraphException {
    private static final long serialVersionUID = 1;

    /** With both versions. */
    public VersionException(String message) {
      super(message);
    }
  }

  /** A page was asked for of a list or value that is not kept any more; read it from the start. */
  public static final class StaleViewException extends GraphException {
    private static final long serialVersionUID = 1;

    /** With what is gone. */
    public StaleViewException(String message) {
      super(message);
    }
  }

  /** Changes after a version are not kept any more; read the graph and subscribe from there. */
  public static final class VersionLostException extends GraphException {
    private static final long serialVersionUID = 1;

    /** With the version asked for and the oldest there is. */
    public VersionLostException(String message) {
      super(message);
    }
  }

  /** The store has no room for more. */
  public static final class GraphFullException extends GraphException {
    private static final long serialVersionUID = 1;

    /** With the message of the store. */
    public GraphFullException(String message) {
      super(message);
    }
  }
}
