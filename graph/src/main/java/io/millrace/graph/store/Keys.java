package io.millrace.graph.store;

import io.millrace.graph.GraphException;
import io.millrace.graph.NodeId;
import io.millrace.store.DocumentKey;

/** The names of the documents of a graph. */
final class Keys {
  static final String NODES = "graph.nodes";
  static final String DATA = "graph.data";

  /** Parts of a change that is too large for one transaction. */
  static final String PENDING = "graph.pending";

  /** The unique keys, and the ids of requests, of nodes. */
  static final String UNIQUE = "graph.unique";

  /** The state of the whole graph; every change writes it. */
  static final DocumentKey HEAD = new DocumentKey("graph", "head");

  private static final int DIGITS = 16;

  private Keys() {}

  static DocumentKey node(NodeId id) {
    return new DocumentKey(NODES, padded(id.value()));
  }

  static DocumentKey data(NodeId id) {
    return new DocumentKey(DATA, padded(id.value()));
  }

  /** The key or request id with this hash. */
  static DocumentKey unique(String hash) {
    return new DocumentKey(UNIQUE, hash);
  }

  static DocumentKey pending(int part) {
    return new DocumentKey(PENDING, padded(part));
  }

  /** The node to which a document of {@link #NODES} or {@link #DATA} belongs. */
  static NodeId id(DocumentKey key) {
    try {
      return new NodeId(Long.parseLong(key.key()));
    } catch (IllegalArgumentException e) {
      throw new GraphException(key + " names no node", e);
    }
  }

  static String padded(long number) {
    String digits = Long.toString(number);
    return "0".repeat(DIGITS - digits.length()) + digits;
  }
}
