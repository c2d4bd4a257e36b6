package io.millrace.wire;

import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.Position;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore.GroupSummary;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * The responses of the server as JSON. Methods with an {@code OutputStream} write to it directly
 * and leave it open; an {@link java.io.IOException} of the stream is thrown as a {@link
 * WireException}. Every {@code read} method ignores unknown fields, and throws {@link
 * WireException} if the bytes do not have the expected form. Thread-safe.
 */
public final class Responses {
  /** The header of a response to a read with the position at which the response was true. */
  public static final String POSITION_HEADER = "Millrace-Position";

  /**
   * The header of a response to a read with the store time at which the response was true, in
   * milliseconds since the epoch.
   */
  public static final String TIME_HEADER = "Millrace-Time";

  /**
   * The header of a response to a read with {@code stale}: its age in milliseconds, rounded up. The
   * response has everything that was acknowledged that long before it was read.
   */
  public static final String STALENESS_HEADER = "Millrace-Staleness";

  /**
   * The header of a response of a server that does not lead what the request is for, with the value
   * {@code standby}, or that is stopping, with the value {@code stopping}: nothing was done.
   */
  public static final String ROLE_HEADER = "Millrace-Role";

  /**
   * The header of a redirection to the leader of a shard: its number, a slash, and the number of
   * shards. {@link Placement} says what else is there.
   */
  public static final String SHARD_HEADER = "Millrace-Shard";

  private Responses() {}

  /** The HTTP status of a response to an update or claim. */
  public static int status(Outcome outcome) {
    return switch (outcome) {
      case Outcome.Done _ -> 200;
      case Outcome.Refused refused -> {
        List<Reason.Kind> kinds = refused.reasons().stream().map(Reason::kind).toList();
        if (kinds.contains(Reason.Kind.MALFORMED)) {
          yield 400;
        }
        if (kinds.contains(Reason.Kind.TOO_LARGE)) {
          yield 413;
        }
        yield kinds.stream().allMatch(kind -> kind == Reason.Kind.FULL) ? 503 : 409;
      }
    };
  }

  /** The response to an update or claim. */
  public static byte[] write(Outcome outcome, DataForm form) {
    return JsonText.write(json -> {
      json.writeStartObject();
      switch (outcome) {
        case Outcome.Done done -> writeDone(json, done, form);
        case Outcome.Refused refused -> writeRefused(json, refused);
      }
      json.writeEndObject();
    });
  }

  private static void writeDone(JsonGenerator json, Outcome.Done done, DataForm form) {
    JsonText.list(
        json,
        "tasks",
        done.tasks(),
        (out, task) -> TaskForm.write(out, task, done.timeMillis(), form));
    JsonText.listIfAny(
        json,
        "documents",
        done.documents(),
        (out, document) -> DocumentForm.write(out, document, form));
    writePosition(json, done.position(), done.timeMillis());
    if (done.repeated()) {
      json.writeBooleanProperty("repeated", true);
    }
  }

  private static void writeRefused(JsonGenerator json, Outcome.Refused refused) {
    JsonText.list(
        json, "errors", refused.reasons(), (out, reason) -> out.writeString(reason.message()));
    JsonText.list(json, "refusal", refused.reasons(), Responses::writeReason);
    writePosition(json, refused.position(), refused.timeMillis());
  }

  private static void writeReason(JsonGenerator json, Reason reason) {
    json.writeStartObject();
    json.writeStringProperty("kind", Scalars.name(reason.kind()));
    if (reason.task() != null) {
      TaskForm.writeRefFields(json, reason.task());
    }
    if (reason.document() != null) {
      DocumentForm.writeKey(json, reason.document());
    }
    json.writeEndObject();
  }

  private static void writePosition(JsonGenerator json, Position position, long timeMillis) {
    json.writeStringProperty("position", position.toString());
    json.writeNumberProperty("time", timeMillis);
  }

  /** Reads what {@link #write(Outcome, DataForm)} wrote. */
  public static Outcome readOutcome(byte[] body) {
    return JsonInput.read(body, Responses::readOutcome);
  }

  private static Outcome readOutcome(JsonInput in) {
    List<Task> tasks = null;
    List<Document> documents = List.of();
    List<String> errors = null;
    List<Reason> refusal = List.of();
    Position position = null;
    long time = 0;
    boolean repeated = false;
    for (String name = in.object(); name != null; name = in.field()) {
      switch (name) {
        case "tasks" -> tasks = in.list(TaskForm::read);
        case "documents" -> documents = in.list(DocumentForm::read);
        case "errors" -> errors = in.list(JsonInput::text);
        case "refusal" -> refusal = in.list(Responses::readReason);
        case "position" -> position = Scalars.position(in);
        case "time" -> time = in.integer();
        case "repeated" -> repeated = in.bool();
        default -> in.skip();
      }
    }
    if (position == null) {
      throw in.wrong("is a response without a position");
    }
    if (errors != null) {
      return new Outcome.Refused(position, time, reasons(in, errors, refusal));
    }
    if (tasks == null) {
      throw in.wrong("is a response without tasks or errors");
    }
    return new Outcome.Done(position, time, tasks, documents, repeated);
  }

  private static Reason readReason(JsonInput in) {
    Reason.Kind kind = null;
    long id = 0;
    long origin = 0;
    String collection = null;
    String key = null;
    for (String name = in.object(); name != null; name = in.field()) {
      switch (name) {
        case "kind" -> kind = Scalars.kind(in);
        case "id" -> id = in.integer();
        case "origin" -> origin = in.integer();
        case "collection" -> collection = in.text();
        case "key" -> key = in.text();
        default -> in.skip();
      }
    }
    if (kind == null) {
      throw in.wrong("needs a kind");
    }
    TaskRef task = id == 0 && origin == 0 ? null : new TaskRef(id, origin);
    DocumentKey document =
        collection == null || key == null ? null : new DocumentKey(collection, key);
    return new Reason(kind, task, document, "");
  }

  /** Joins the reasons with their messages, which are in a list of their own for old clients. */
  private static List<Reason> reasons(JsonInput in, List<String> errors, List<Reason> refusal) {
    if (errors.size() != refusal.size() || errors.isEmpty()) {
      throw in.wrong("has lists of errors and of reasons that do not match");
    }
    List<Reason> reasons = new ArrayList<>();
    for (int i = 0; i < errors.size(); i++) {
      Reason reason = refusal.get(i);
      reasons.add(new Reason(reason.kind(), reason.task(), reason.document(), errors.get(i)));
    }
    return reasons;
  }

  /**
   * Writes one task.
   *
   * @param nowMillis the store time for which the state of the task is shown
   */
  public static byte[] write(Task task, long nowMillis, DataForm form) {
    return JsonText.write(json -> TaskForm.write(json, task, nowMillis, form));
  }

  /** Reads what {@link #write(Task, long, DataForm)} wrote. */
  public static Task readTask(byte[] body) {
    return JsonInput.read(body, TaskForm::read);
  }

  /** Writes tasks, with their states at the store time {@code nowMillis}. */
  public static void writeTasks(
      OutputStream target, Iterable<Task> tasks, long nowMillis, DataForm form) {
    JsonText.write(
        target,
        json ->
            JsonText.list(json, tasks, (out, task) -> TaskForm.write(out, task, nowMillis, form)));
  }

  /** The same as {@link #writeTasks}, with null for each missing task. */
  public static void writeFound(
      OutputStream target, List<Optional<Task>> tasks, long nowMillis, DataForm form) {
    JsonText.write(
        target,
        json ->
            JsonText.list(
                json,
                tasks,
                (out, found) ->
                    found.ifPresentOrElse(
                        task -> TaskForm.write(out, task, nowMillis, form), out::writeNull)));
  }

  /** Reads what {@link #writeFound} or {@link #writeTasks} wrote. */
  public static List<Optional<Task>> readFound(byte[] body) {
    return JsonInput.read(
        body,
        list -> list.list(in -> in.isNull() ? Optional.empty() : Optional.of(TaskForm.read(in))));
  }

  /** Reads what {@link #writeTasks} wrote. */
  public static List<Task> readTasks(byte[] body) {
    return JsonInput.read(body, in -> in.list(TaskForm::read));
  }

  /** Writes only the names of the groups: a list of strings. */
  public static byte[] writeNames(List<GroupSummary> groups) {
    return JsonText.write(
        json -> JsonText.list(json, groups, (out, group) -> out.writeString(group.name())));
  }

  /** Writes groups with the numbers of their tasks. */
  public static byte[] writeSummaries(List<GroupSummary> groups) {
    return JsonText.write(json -> JsonText.list(json, groups, Responses::writeSummary));
  }

  private static void writeSummary(JsonGenerator json, GroupSummary group) {
    json.writeStartObject();
    json.writeStringProperty("group", group.name());
    json.writeNumberProperty("waiting", group.waiting());
    json.writeNumberProperty("delayed", group.delayed());
    json.writeNumberProperty("owned", group.owned());
    json.writeNumberProperty("claimed", group.claimed());
    json.writeEndObject();
  }

  /** Reads what {@link #writeSummaries} wrote. */
  public static List<GroupSummary> readSummaries(byte[] body) {
    return JsonInput.read(body, in -> in.list(Responses::readSummary));
  }

  private static GroupSummary readSummary(JsonInput in) {
    String group = null;
    long waiting = 0;
    long delayed = 0;
    long owned = 0;
    long claimed = 0;
    for (String name = in.object(); name != null; name = in.field()) {
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
      throw in.wrong("needs a group");
    }
    return new GroupSummary(group, waiting, delayed, owned, claimed);
  }

  /** Writes one document. */
  public static byte[] write(Document document, DataForm form) {
    return JsonText.write(json -> DocumentForm.write(json, document, form));
  }

  /** Reads what {@link #write(Document, DataForm)} wrote. */
  public static Document readDocument(byte[] body) {
    return JsonInput.read(body, DocumentForm::read);
  }

  /** Writes documents. */
  public static void writeDocuments(
      OutputStream target, Iterable<Document> documents, DataForm form) {
    JsonText.write(
        target,
        json ->
            JsonText.list(
                json, documents, (out, document) -> DocumentForm.write(out, document, form)));
  }

  /** Reads what {@link #writeDocuments} wrote. */
  public static List<Document> readDocuments(byte[] body) {
    return JsonInput.read(body, in -> in.list(DocumentForm::read));
  }

  /** Writes the current position of the store: {@code {"position":…,"time":…}}. */
  public static byte[] write(Position position, long timeMillis) {
    return JsonText.write(json -> {
      json.writeStartObject();
      writePosition(json, position, timeMillis);
      json.writeEndObject();
    });
  }

  /**
   * Writes the error of a read, or of a request that was rejected before its route was known:
   * {@code {"error":…}}.
   */
  public static byte[] writeError(String message) {
    return JsonText.write(json -> {
      json.writeStartObject();
      json.writeStringProperty("error", JsonText.wellFormed(message));
      json.writeEndObject();
    });
  }

  /**
   * Writes an error as problem details of RFC 9457, with the message as {@code error} too, where
   * {@link #readError} finds it.
   *
   * @param title what the status means
   */
  public static byte[] writeProblem(int status, String title, String message) {
    return JsonText.write(json -> {
      json.writeStartObject();
      json.writeStringProperty("type", "about:blank");
      json.writeStringProperty("title", title);
      json.writeNumberProperty("status", status);
      json.writeStringProperty("detail", JsonText.wellFormed(message));
      json.writeStringProperty("error", JsonText.wellFormed(message));
      json.writeEndObject();
    });
  }

  /**
   * Writes the error of an update or claim that the store has not decided: {@code {"errors":[…]}},
   * with {@code "refusal":[{"kind":…}]} if there is a kind.
   *
   * @param kind null if the request is not the cause of the error
   */
  public static byte[] writeErrors(String message, Reason.@Nullable Kind kind) {
    return JsonText.write(json -> {
      json.writeStartObject();
      json.writeArrayPropertyStart("errors");
      json.writeString(JsonText.wellFormed(message));
      json.writeEndArray();
      if (kind != null) {
        json.writeArrayPropertyStart("refusal");
        json.writeStartObject();
        json.writeStringProperty("kind", Scalars.name(kind));
        json.writeEndObject();
        json.writeEndArray();
      }
      json.writeEndObject();
    });
  }

  /**
   * Reads what {@link #writeError} or {@link #writeErrors} wrote. If there are several messages,
   * they are joined by semicolons.
   */
  public static String readError(byte[] body) {
    return JsonInput.read(
        body,
        in -> {
          String message = null;
          for (String name = in.object(); name != null; name = in.field()) {
            switch (name) {
              case "error" -> message = in.text();
              case "errors" -> message = String.join("; ", in.list(JsonInput::text));
              default -> in.skip();
            }
          }
          if (message == null) {
            throw in.wrong("needs an error");
          }
          return message;
        });
  }
}
