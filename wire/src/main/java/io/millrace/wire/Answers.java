package io.millrace.wire;

import io.millrace.store.Document;
import io.millrace.store.GroupSummary;
import io.millrace.store.Outcome;
import io.millrace.store.Position;
import io.millrace.store.Reason;
import io.millrace.store.Task;
import java.io.OutputStream;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the server answers. Lists are written to a stream as they go, which is left open and gets
 * its own {@link java.io.IOException}s wrapped in {@link WireException}; every {@code read} method
 * throws {@link WireException} where the bytes are not of the form, and leaves out fields that it
 * does not know. All methods may be called by any thread.
 */
public final class Answers {
  /** The header of a read that says at which position it was true. */
  public static final String POSITION_HEADER = "Millrace-Position";

  /** The header of a read that says at which store time it was true, in milliseconds. */
  public static final String TIME_HEADER = "Millrace-Time";

  private Answers() {}

  /** The status that an answer to an update or claim travels with. */
  public static int status(Outcome outcome) {
    return switch (outcome) {
      case Outcome.Done _ -> 200;
      case Outcome.Refused refused -> {
        if (has(refused, Reason.Kind.MALFORMED)) {
          yield 400;
        }
        if (has(refused, Reason.Kind.TOO_LARGE)) {
          yield 413;
        }
        boolean onlyFull = refused.reasons().stream().allMatch(r -> r.kind() == Reason.Kind.FULL);
        yield onlyFull ? 503 : 409;
      }
    };
  }

  private static boolean has(Outcome.Refused refused, Reason.Kind kind) {
    return refused.reasons().stream().anyMatch(reason -> reason.kind() == kind);
  }

  /** The answer to an update or claim. */
  public static byte[] write(Outcome outcome, DataForm form) {
    return JsonText.write(json -> OutcomeForm.write(json, outcome, form));
  }

  /** Reads what {@link #write(Outcome, DataForm)} wrote. */
  public static Outcome readOutcome(byte[] body) {
    return JsonInput.read(body, OutcomeForm::read);
  }

  /** One task, with its state at {@code nowMillis}. */
  public static byte[] write(Task task, long nowMillis, DataForm form) {
    return JsonText.write(json -> TaskForm.write(json, task, nowMillis, form));
  }

  /** Reads what {@link #write(Task, long, DataForm)} wrote. */
  public static Task readTask(byte[] body) {
    return JsonInput.read(body, TaskForm::read);
  }

  /** Tasks, with their states at {@code nowMillis}. */
  public static void writeTasks(
      OutputStream target, Iterable<Task> tasks, long nowMillis, DataForm form) {
    JsonText.write(
        target,
        json -> {
          json.writeStartArray();
          for (Task task : tasks) {
            TaskForm.write(json, task, nowMillis, form);
          }
          json.writeEndArray();
        });
  }

  /** Tasks, with their states at {@code nowMillis}, and null for each that is not there. */
  public static void writeFound(
      OutputStream target, List<Optional<Task>> tasks, long nowMillis, DataForm form) {
    JsonText.write(
        target,
        json -> {
          json.writeStartArray();
          for (Optional<Task> task : tasks) {
            if (task.isPresent()) {
              TaskForm.write(json, task.get(), nowMillis, form);
            } else {
              json.writeNull();
            }
          }
          json.writeEndArray();
        });
  }

  /** Reads what {@link #writeFound} or {@link #writeTasks} wrote. */
  public static List<Optional<Task>> readFound(byte[] body) {
    return JsonInput.read(
        body,
        list ->
            Lists.read(
                list, in -> in.isNull() ? Optional.empty() : Optional.of(TaskForm.read(in))));
  }

  /** Reads what {@link #writeTasks} wrote. */
  public static List<Task> readTasks(byte[] body) {
    return JsonInput.read(body, list -> Lists.read(list, TaskForm::read));
  }

  /** The names of groups, a list of strings. */
  public static byte[] writeNames(List<GroupSummary> groups) {
    return JsonText.write(json -> {
      json.writeStartArray();
      groups.forEach(group -> json.writeString(group.name()));
      json.writeEndArray();
    });
  }

  /** Groups with how many tasks they have. */
  public static byte[] writeSummaries(List<GroupSummary> groups) {
    return JsonText.write(json -> {
      json.writeStartArray();
      for (GroupSummary group : groups) {
        json.writeStartObject();
        json.writeStringProperty("group", group.name());
        json.writeNumberProperty("waiting", group.waiting());
        json.writeNumberProperty("delayed", group.delayed());
        json.writeNumberProperty("owned", group.owned());
        json.writeNumberProperty("claimed", group.claimed());
        json.writeEndObject();
      }
      json.writeEndArray();
    });
  }

  /** Reads what {@link #writeSummaries} wrote. */
  public static List<GroupSummary> readSummaries(byte[] body) {
    return JsonInput.read(body, list -> Lists.read(list, Answers::readSummary));
  }

  private static GroupSummary readSummary(JsonInput in) {
    String group = null;
    long waiting = 0;
    long delayed = 0;
    long owned = 0;
    long claimed = 0;
    in.object();
    for (String name = in.field(); name != null; name = in.field()) {
      switch (name) {
        case "group" -> group = in.text();
        case "waiting" -> waiting = in.integer(0, Long.MAX_VALUE);
        case "delayed" -> delayed = in.integer(0, Long.MAX_VALUE);
        case "owned" -> owned = in.integer(0, Long.MAX_VALUE);
        case "claimed" -> claimed = in.integer(0, Long.MAX_VALUE);
        default -> in.skip();
      }
    }
    if (group == null) {
      throw in.lacking("needs a group");
    }
    return new GroupSummary(group, waiting, delayed, owned, claimed);
  }

  /** One document. */
  public static byte[] write(Document document, DataForm form) {
    return JsonText.write(json -> DocumentForm.write(json, document, form));
  }

  /** Reads what {@link #write(Document, DataForm)} wrote. */
  public static Document readDocument(byte[] body) {
    return JsonInput.read(body, DocumentForm::read);
  }

  /** Documents. */
  public static void writeDocuments(
      OutputStream target, Iterable<Document> documents, DataForm form) {
    JsonText.write(
        target,
        json -> {
          json.writeStartArray();
          for (Document document : documents) {
            DocumentForm.write(json, document, form);
          }
          json.writeEndArray();
        });
  }

  /** Reads what {@link #writeDocuments} wrote. */
  public static List<Document> readDocuments(byte[] body) {
    return JsonInput.read(body, list -> Lists.read(list, DocumentForm::read));
  }

  /** Where the store stands: {@code {"position":…,"time":…}}. */
  public static byte[] write(Position position, long timeMillis) {
    return JsonText.write(json -> {
      json.writeStartObject();
      json.writeStringProperty("position", position.toString());
      json.writeNumberProperty("time", timeMillis);
      json.writeEndObject();
    });
  }

  /** What went wrong with a read, or with a request that reached no verb: {@code {"error":…}}. */
  public static byte[] writeError(String message) {
    return JsonText.write(json -> {
      json.writeStartObject();
      json.writeStringProperty("error", JsonText.whole(message));
      json.writeEndObject();
    });
  }

  /**
   * What went wrong with an update or claim before the store could decide it: {@code
   * {"errors":[…]}}, and with a kind {@code "refusal":[{"kind":…}]} beside it.
   *
   * @param kind null where the request is not at fault
   */
  public static byte[] writeErrors(String message, Reason.@Nullable Kind kind) {
    return JsonText.write(json -> {
      json.writeStartObject();
      json.writeArrayPropertyStart("errors");
      json.writeString(JsonText.whole(message));
      json.writeEndArray();
      if (kind != null) {
        json.writeArrayPropertyStart("refusal");
        json.writeStartObject();
        json.writeStringProperty("kind", Words.of(kind));
        json.writeEndObject();
        json.writeEndArray();
      }
      json.writeEndObject();
    });
  }

  /** Reads the message that {@link #writeError} or {@link #writeErrors} wrote, several joined. */
  public static String readError(byte[] body) {
    return JsonInput.read(
        body,
        in -> {
          String message = null;
          in.object();
          for (String name = in.field(); name != null; name = in.field()) {
            switch (name) {
              case "error" -> message = in.text();
              case "errors" -> message = String.join("; ", Lists.read(in, JsonInput::text));
              default -> in.skip();
            }
          }
          if (message == null) {
            throw in.lacking("needs an error");
          }
          return message;
        });
  }
}
