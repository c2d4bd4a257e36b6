package io.millrace.wire;

import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Position;
import io.millrace.store.Reason;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** The answer to an update or claim. */
final class OutcomeForm {
  private OutcomeForm() {}

  static void write(JsonGenerator json, Outcome outcome, DataForm form) {
    json.writeStartObject();
    switch (outcome) {
      case Outcome.Done done -> writeDone(json, done, form);
      case Outcome.Refused refused -> writeRefused(json, refused);
    }
    json.writeEndObject();
  }

  private static void writeDone(JsonGenerator json, Outcome.Done done, DataForm form) {
    json.writeArrayPropertyStart("tasks");
    for (Task task : done.tasks()) {
      TaskForm.write(json, task, done.timeMillis(), form);
    }
    json.writeEndArray();
    if (!done.documents().isEmpty()) {
      json.writeArrayPropertyStart("documents");
      for (Document document : done.documents()) {
        DocumentForm.write(json, document, form);
      }
      json.writeEndArray();
    }
    writeWhere(json, done.position(), done.timeMillis());
    if (done.repeated()) {
      json.writeBooleanProperty("repeated", true);
    }
  }

  private static void writeRefused(JsonGenerator json, Outcome.Refused refused) {
    json.writeArrayPropertyStart("errors");
    for (Reason reason : refused.reasons()) {
      json.writeString(reason.message());
    }
    json.writeEndArray();
    json.writeArrayPropertyStart("refusal");
    for (Reason reason : refused.reasons()) {
      json.writeStartObject();
      json.writeStringProperty("kind", Words.of(reason.kind()));
      if (reason.task() != null) {
        TaskForm.writeRefFields(json, reason.task());
      }
      if (reason.document() != null) {
        DocumentForm.writeKey(json, reason.document());
      }
      json.writeEndObject();
    }
    json.writeEndArray();
    writeWhere(json, refused.position(), refused.timeMillis());
  }

  private static void writeWhere(JsonGenerator json, Position position, long timeMillis) {
    json.writeStringProperty("position", position.toString());
    json.writeNumberProperty("time", timeMillis);
  }

  static Outcome read(JsonInput in) {
    List<Task> tasks = null;
    List<Document> documents = new ArrayList<>();
    List<String> errors = null;
    List<Reason> refusal = new ArrayList<>();
    Position position = null;
    long time = 0;
    boolean repeated = false;
    in.object();
    for (String name = in.field(); name != null; name = in.field()) {
      switch (name) {
        case "tasks" -> tasks = Lists.read(in, TaskForm::read);
        case "documents" -> documents = Lists.read(in, DocumentForm::read);
        case "errors" -> errors = Lists.read(in, JsonInput::text);
        case "refusal" -> refusal = Lists.read(in, OutcomeForm::readReason);
        case "position" -> position = Positions.read(in);
        case "time" -> time = in.integer(Long.MIN_VALUE, Long.MAX_VALUE);
        case "repeated" -> repeated = in.truth();
        default -> in.skip();
      }
    }
    if (position == null) {
      throw in.lacking("is an answer without a position");
    }
    if (errors != null) {
      return new Outcome.Refused(position, time, reasons(in, errors, refusal));
    }
    if (tasks == null) {
      throw in.lacking("is an answer without tasks or errors");
    }
    return new Outcome.Done(position, time, tasks, documents, repeated);
  }

  private static Reason readReason(JsonInput in) {
    Reason.Kind kind = null;
    long id = 0;
    long origin = 0;
    String collection = null;
    String key = null;
    in.object();
    for (String name = in.field(); name != null; name = in.field()) {
      switch (name) {
        case "kind" -> kind = Words.kind(in);
        case "id" -> id = TaskForm.id(in);
        case "origin" -> origin = TaskForm.id(in);
        case "collection" -> collection = in.text();
        case "key" -> key = in.text();
        default -> in.skip();
      }
    }
    if (kind == null) {
      throw in.lacking("needs a kind");
    }
    TaskRef task = id == 0 && origin == 0 ? null : new TaskRef(id, origin);
    return new Reason(kind, task, document(collection, key), "");
  }

  private static @Nullable DocumentKey document(@Nullable String collection, @Nullable String key) {
    return collection == null || key == null ? null : new DocumentKey(collection, key);
  }

  /** The reasons, whose words stand in a list beside them, since old clients read only those. */
  private static List<Reason> reasons(JsonInput in, List<String> errors, List<Reason> refusal) {
    if (errors.size() != refusal.size() || errors.isEmpty()) {
      throw in.lacking("has errors and a refusal that do not match");
    }
    List<Reason> reasons = new ArrayList<>();
    for (int i = 0; i < errors.size(); i++) {
      Reason reason = refusal.get(i);
      reasons.add(new Reason(reason.kind(), reason.task(), reason.document(), errors.get(i)));
    }
    return reasons;
  }
}
