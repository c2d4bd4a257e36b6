package io.millrace.cluster.remote.backlog;

import io.millrace.cluster.documents.Version;

/**
 * An item as its document shows it.
 *
 * @param name the item itself
 * @param state how far it is
 * @param attempts how often it was given out
 * @param fence that of the leader that gave it out last; 0 for none
 * @param version of the document
 */
record Item(String name, State state, int attempts, long fence, Version version) {
  /** How far an item is. */
  enum State {
    /** To be given out. */
    WAITING,
    /** Given to somebody. */
    GIVEN,
    /** Done, for good. */
    DONE
  }

  /** One that nobody knows yet. */
  static Item fresh(String name, State state) {
    return new Item(name, state, 0, 0, Version.NONE);
  }

  Item given(long leader) {
    return new Item(name, State.GIVEN, attempts + 1, leader, version);
  }

  Item with(State next) {
    return new Item(name, next, attempts, fence, version);
  }
}
