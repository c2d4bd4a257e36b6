package io.millrace.queues;

import io.millrace.store.Bytes;
import io.millrace.store.Transaction.Add;
import io.millrace.store.When;

/**
 * The kernel tasks that stand for definitions of queues and nodes: each change of a setting
 * replaces one, so that a claim that depends on it knows the settings as they are.
 */
final class Definitions {
  private static final String GROUP = "queues/definitions";

  private Definitions() {}

  static Add add(String name) {
    return new Add(GROUP, Bytes.of(name), When.now(), false, Queue.ADDED);
  }

  static Bytes body(ObjectId id) {
    return Bytes.of(id.hex());
  }
}
