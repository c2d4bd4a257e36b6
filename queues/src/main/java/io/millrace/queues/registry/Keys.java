package io.millrace.queues.registry;

import io.millrace.queues.ObjectId;
import io.millrace.store.Bytes;
import io.millrace.store.DocumentKey;

/** The names of the documents of queues, and the kernel tasks that stand for definitions. */
final class Keys {
  static final String QUEUES = "queues.queues";
  static final String NAMES = "queues.names";
  static final String TASKS = "queues.tasks";
  static final String RUNS = "queues.runs";
  static final String STOPS = "queues.stops";
  static final String BELLS = "queues.bells";
  static final String NODES = "queues.nodes";
  static final String CONFIG = "queues.config";

  /** What the plugins of nodes declare, by the names of nodes. */
  static final String DECLARATIONS = "queues.declarations";

  static final String FILES = "queues.files";

  /** Batches of tasks that were taken from another home. */
  static final String BATCHES = "queues.batches";

  static final String UNIQUE = "queues.unique";
  static final String DEADLINES = "queues.deadlines";

  private static final int MILLIS_DIGITS = 16;

  private Keys() {}

  static DocumentKey queue(ObjectId queue) {
    return new DocumentKey(QUEUES, queue.hex());
  }

  /** Keeps a queue's name unique; its body is the queue's id. */
  static DocumentKey name(String queueName) {
    return new DocumentKey(NAMES, queueName);
  }

  static DocumentKey task(ObjectId task) {
    return new DocumentKey(TASKS, task.hex());
  }

  static DocumentKey run(ObjectId task) {
    return new DocumentKey(RUNS, task.hex());
  }

  /** Asks the runner of the task to end it. */
  static DocumentKey stop(ObjectId task) {
    return new DocumentKey(STOPS, task.hex());
  }

  /** Written whenever a queue may have a task to claim, so that nodes wake up. */
  static DocumentKey bell(ObjectId queue) {
    return new DocumentKey(BELLS, queue.hex());
  }

  static DocumentKey node(String name) {
    return new DocumentKey(NODES, name);
  }

  static DocumentKey declarations(String node) {
    return new DocumentKey(DECLARATIONS, node);
  }

  static DocumentKey config(String scope) {
    return new DocumentKey(CONFIG, scope);
  }

  static DocumentKey file(ObjectId file) {
    return new DocumentKey(FILES, file.hex());
  }

  static DocumentKey batch(ObjectId batch) {
    return new DocumentKey(BATCHES, batch.hex());
  }

  /** Held by the task of a queue that has this unique key. */
  static DocumentKey unique(ObjectId queue, String hash) {
    return new DocumentKey(UNIQUE, queue.hex() + "/" + hash);
  }

  /** Says when a task is over time; the documents are in the order of these times. */
  static DocumentKey deadline(long atMillis, ObjectId task) {
    String digits = Long.toString(atMillis);
    String padded = "0".repeat(MILLIS_DIGITS - digits.length()) + digits;
    return new DocumentKey(DEADLINES, padded + "/" + task.hex());
  }

  /** The body of a document that refers to a queue by its id. */
  static Bytes body(ObjectId id) {
    return Bytes.of(id.hex());
  }
}
