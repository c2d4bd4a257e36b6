package io.millrace.graph;

/**
 * The exceptions of a graph. An instance of this class itself means that the stored graph is
 * damaged, or that the store failed. Its subtypes are refusals, after which nothing has changed.
 */
public class GraphException extends RuntimeException {
  /** Has a message that a person can act on. */
  public GraphException(String message) {
    super(message);
  }

  /** Has a message that a person can act on, and the cause. */
  public GraphException(String message, Throwable cause) {
    super(message, cause);
  }

  /** The request is invalid. */
  public static final class InvalidGraphException extends GraphException {
    /** Says what is wrong. */
    public InvalidGraphException(String message) {
      super(message);
    }
  }

  /** A running command requested a change that it may not make. */
  public static final class NotAllowedException extends GraphException {
    /** Says what is not allowed. */
    public NotAllowedException(String message) {
      super(message);
    }
  }

  /** There is no such node, or it was removed. */
  public static final class UnknownNodeException extends GraphException {
    /** Names the node. */
    public UnknownNodeException(NodeId id) {
      super("there is no node " + id);
    }
  }

  /** A node has no data for this key. */
  public static final class UnknownKeyException extends GraphException {
    /** Names the key and the node. */
    public UnknownKeyException(NodeId id, String key) {
      super("node " + id + " has no data \"" + key + "\"");
    }
  }

  /** The state of a node does not allow the request. */
  public static final class NodeStateException extends GraphException {
    /** Says what is in the way. */
    public NodeStateException(String message) {
      super(message);
    }
  }

  /** Something has another version than the caller expects. */
  public static final class VersionException extends GraphException {
    /** Has both versions in its message. */
    public VersionException(String message) {
      super(message);
    }
  }

  /**
   * The requested page belongs to a list or value that is no longer kept; read it from the start.
   */
  public static final class StaleViewException extends GraphException {
    /** Says what is gone. */
    public StaleViewException(String message) {
      super(message);
    }
  }

  /** Changes after a version are no longer kept; read the graph and subscribe from there. */
  public static final class VersionLostException extends GraphException {
    /** Names the requested version and the oldest one that is kept. */
    public VersionLostException(String message) {
      super(message);
    }
  }

  /** The store has no room for more. */
  public static final class GraphFullException extends GraphException {
    /** Has the message of the store. */
    public GraphFullException(String message) {
      super(message);
    }
  }
}
