package io.millrace.queues;

import io.millrace.store.Bytes;
import io.millrace.store.DocumentKey;
import io.millrace.store.Transaction.Add;
import io.millrace.store.Transaction.When;

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
  static final String FILES = "queues.files";

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

  /** Asks whoever runs the task to end it. */
  static DocumentKey stop(ObjectId task) {
    return new DocumentKey(STOPS, task.hex());
  }

  /** Written whenever a queue may have something to claim, so that nodes wake. */
  static DocumentKey bell(ObjectId queue) {
    return new DocumentKey(BELLS, queue.hex());
  }

  static DocumentKey node(String name) {
    return new DocumentKey(NODES, name);
  }

  static DocumentKey config(String scope) {
    return new DocumentKey(CONFIG, scope);
  }

  static DocumentKey file(ObjectId file) {
    return new DocumentKey(FILES, file.hex());
  }

  /**
   * Adds the kernel task that stands for the definition of a queue or node. Each change of a
   * setting replaces it, so a claim that depends on it was made with the current settings.
   */
  static Add definition(String name) {
    return new Add("queues/definitions", Bytes.of(name), When.now(), false, Queue.ADDED);
  }

  /** The body of a document that refers to a queue by its id. */
  static Bytes body(ObjectId id) {
    return Bytes.of(id.hex());
  }
}
