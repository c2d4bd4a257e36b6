package io.millrace.store.kernel.state;

import io.millrace.store.Document;
import io.millrace.store.Task;
import io.millrace.store.kernel.records.Event;

/** Estimates of memory in bytes, including the share of the indexes. */
public final class Sizes {
  /** The memory of a task without its data. */
  static final int TASK = 144;

  /** The additional memory of a task with a key or priority, including its share of its key's. */
  private static final int LANE = 160;

  /** The memory of what is known of the latest starts under one limit. */
  public static final int STARTS = 200;

  private static final int DOCUMENT = 200;
  private static final int GROUP = 600;
  private static final int EVENT = 400;
  private static final int CHANGE = 48;

  private Sizes() {}

  /** The memory of a task. */
  public static long of(Task task) {
    Task.Lane lane = task.lane();
    return (long) TASK + (lane == null ? 0 : LANE + lane.key().length()) + task.data().size();
  }

  /** The memory of a document. */
  public static long of(Document document) {
    return DOCUMENT
        + 2L * (document.key().collection().length() + document.key().key().length())
        + document.body().size();
  }

  /** The memory of a group without its tasks. */
  public static long ofGroup(String name) {
    return GROUP + 2L * name.length();
  }

  /** The memory of a commit that is kept for subscribers; the state may share its data. */
  public static long ofShown(Event event) {
    return of(event) + (long) CHANGE * event.changes().size();
  }

  /** The memory of a remembered commit, with its tasks and documents. */
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
