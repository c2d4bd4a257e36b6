package io.millrace.cli.store;

import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.UsageException;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore.GroupQuery.Place;
import io.millrace.wire.Requests;
import io.millrace.wire.WireException;
import java.io.PrintStream;
import java.time.Instant;
import java.util.List;
import java.util.Locale;

/** Formats tasks and documents as tables, and parses references to tasks. */
final class Tasks {
  private static final int SHOWN = 60;

  private Tasks() {}

  static void print(PrintStream out, List<Task> tasks, long nowMillis) {
    Table table =
        new Table("ID", "ORIGIN", "GROUP", "STATE", "AVAILABLE", "OWNER", "CLAIMS", "DATA");
    for (Task task : tasks) {
      table.row(
          task.id(),
          task.origin(),
          task.group(),
          task.stateAt(nowMillis).name().toLowerCase(Locale.ROOT),
          task.availableAtMillis() <= nowMillis
              ? "now"
              : Instant.ofEpochMilli(task.availableAtMillis()),
          task.owner() == null ? "-" : task.owner().client(),
          task.claims(),
          shown(task.data()));
    }
    table.print(out);
  }

  /** The first 60 characters of data. */
  static String shown(Bytes data) {
    String text = data.utf8();
    if (text.codePointCount(0, text.length()) <= SHOWN) {
      return text;
    }
    return text.substring(0, text.offsetByCodePoints(0, SHOWN)) + "… (" + data.size() + " bytes)";
  }

  /**
   * Parses a reference to a task: {@code 14} by id, {@code ~10} by origin, {@code 14~10} by both.
   */
  static TaskRef ref(String text) {
    try {
      int tilde = text.indexOf('~');
      if (tilde < 0) {
        return TaskRef.id(Long.parseLong(text));
      }
      long id = tilde == 0 ? 0 : Long.parseLong(text.substring(0, tilde));
      return new TaskRef(id, Long.parseLong(text.substring(tilde + 1)));
    } catch (IllegalArgumentException e) {
      throw new UsageException(
          "a task is given as an id (14), an origin (~10) or both (14~10), not '" + text + "'", e);
    }
  }

  /** The place of a task in the list of its group. */
  static Place place(String text) {
    try {
      return Requests.readPlace(text);
    } catch (WireException e) {
      throw new UsageException(String.valueOf(e.getMessage()), e);
    }
  }

  static List<TaskRef> refs(List<String> texts) {
    return texts.stream().map(Tasks::ref).toList();
  }

  /** Formats documents as a table. */
  static final class Documents {
    private Documents() {}

    static void print(PrintStream out, List<Document> documents) {
      Table table = new Table("COLLECTION", "KEY", "VERSION", "BODY");
      for (Document document : documents) {
        table.row(
            document.key().collection(),
            document.key().key(),
            document.version(),
            Tasks.shown(document.body()));
      }
      table.print(out);
    }
  }
}
