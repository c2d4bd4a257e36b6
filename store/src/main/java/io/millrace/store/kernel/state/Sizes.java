package io.millrace.store.kernel.state;

import io.millrace.store.Document;
import io.millrace.store.Task;
import io.millrace.store.kernel.records.Event;

/** Estimates of what things take in memory, in bytes, their share of the indexes included. */
public final class Sizes {
  /** What a task takes beyond its data. */
  static final int TASK = 144;

  private static final int DOCUMENT = 200;
  private static final int GROUP = 600;
  private static final int EVENT = 400;
  private static final int CHANGE = 48;

  private Sizes() {}

  /** What a task takes. */
  public static long of(Task task) {
    return (long) TASK + task.data().size();
  }

  /** What a document takes. */
  public static long of(Document document) {
    return DOCUMENT
        + 2L * (document.key().collection().length() + document.key().key().length())
        + document.body().size();
  }

  /** What a group takes beyond its tasks. */
  public static long ofGroup(String name) {
    return GROUP + 2L * name.length();
  }

  /** What a commit takes that is kept for subscribers, though the store may share its data. */
  public static long ofShown(Event event) {
    return of(event) + (long) CHANGE * event.changes().size();
  }

  /** What a remembered answer takes, which keeps its tasks and documents from being freed. */
  public static long of(Event event) {
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
