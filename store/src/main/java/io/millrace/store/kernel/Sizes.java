package io.millrace.store.kernel;

import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.Document;
import io.millrace.store.Task;
import io.millrace.store.Transaction;
import io.millrace.store.kernel.records.Event;

/** Estimates of what things take in memory, in bytes, their share of the indexes included. */
final class Sizes {
  /** What a task takes beyond its data. */
  static final int TASK = 144;

  private static final int DOCUMENT = 200;
  private static final int GROUP = 600;
  private static final int EVENT = 400;
  private static final int CHANGE = 48;

  private static final int PART = 100;

  /** What a message to the loop takes beyond its content. */
  static final int MESSAGE = 300;

  private Sizes() {}

  /** What a command takes that waits for the loop. */
  static long of(Command command) {
    return switch (command) {
      case Transaction transaction -> {
        Extent extent = Extent.of(transaction);
        yield MESSAGE + (long) PART * extent.parts() + extent.bytes();
      }
      case Claim claim -> MESSAGE + (long) PART * (claim.groups().size() + claim.depends().size());
    };
  }

  static long of(Task task) {
    return (long) TASK + task.data().size();
  }

  static long of(Document document) {
    return DOCUMENT
        + 2L * (document.key().collection().length() + document.key().key().length())
        + document.body().size();
  }

  static long ofGroup(String name) {
    return GROUP + 2L * name.length();
  }

  /** What a commit takes that is kept for subscribers, though the store may share its data. */
  static long ofShown(Event event) {
    return of(event) + (long) CHANGE * event.changes().size();
  }

  /** What a remembered answer takes, which keeps its tasks and documents from being freed. */
  static long of(Event event) {
    long total = EVENT;
    for (Task task : event.tasks()) {
      total += of(task);
    }
    for (Document document : event.documents()) {
      total += of(document);
    }
    return total;
  }
}
