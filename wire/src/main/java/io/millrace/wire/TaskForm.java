package io.millrace.wire;

import io.millrace.store.Bytes;
import io.millrace.store.Owner;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** The JSON of tasks and of references to tasks. */
final class TaskForm {
  private TaskForm() {}

  /** Writes a task with its state at {@code nowMillis}. */
  static void write(JsonGenerator json, Task task, long nowMillis, DataForm form) {
    json.writeStartObject();
    json.writeNumberProperty("id", task.id());
    json.writeStringProperty("group", task.group());
    JsonText.data(json, "data", "data64", task.data(), form);
    json.writeNumberProperty("timespec", task.availableAtMillis());
    Owner owner = task.owner();
    json.writeNumberProperty("ownerid", owner == null ? 0 : Scalars.clientId(owner.client()));
    // "ownerid" is always a number, 0 for no owner. So the client with id 0 needs a principal too.
    if (owner != null && (owner.client() == 0 || !owner.principal().isEmpty())) {
      json.writeStringProperty("principal", owner.principal());
    }
    json.writeNumberProperty("origin", task.origin());
    json.writeNumberProperty("token", task.token());
    json.writeNumberProperty("claims", task.claims());
    json.writeStringProperty("state", Scalars.name(task.stateAt(nowMillis)));
    writeLane(json, task.lane());
    json.writeEndObject();
  }

  /** Writes the fields {@code key} and {@code priority}, unless they have their defaults. */
  static void writeLane(JsonGenerator json, Task.@Nullable Lane lane) {
    if (lane != null && !lane.key().isEmpty()) {
      json.writeStringProperty("key", lane.key());
    }
    if (lane != null && lane.priority() != 0) {
      json.writeNumberProperty("priority", lane.priority());
    }
  }

  /** Reads a task. */
  static Task read(JsonInput in) {
    long id = 0;
    long origin = 0;
    String group = null;
    long availableAt = 0;
    long owner = 0;
    String principal = null;
    long token = 0;
    int claims = 0;
    Bytes data = Bytes.EMPTY;
    String key = "";
    int priority = 0;
    for (String name = in.object(); name != null; name = in.field()) {
      switch (name) {
        case "id" -> id = in.integer(1, Long.MAX_VALUE);
        case "origin" -> origin = in.integer(1, Long.MAX_VALUE);
        case "group" -> group = in.text();
        case "data" -> data = in.bytes();
        case "data64" -> data = in.base64();
        case "timespec" -> availableAt = in.integer();
        case "ownerid" -> owner = Scalars.clientId(in);
        case "principal" -> principal = in.text();
        case "token" -> token = in.integer(0, Long.MAX_VALUE);
        case "claims" -> claims = (int) in.integer(0, Integer.MAX_VALUE);
        case "key" -> key = in.text();
        case "priority" -> priority = priority(in);
        default -> in.skip();
      }
    }
    if (id == 0 || group == null) {
      throw in.wrong("is a task without an id or a group");
    }
    return new Task(
        id,
        origin == 0 ? id : origin,
        group,
        availableAt,
        owner(owner, principal),
        token,
        claims,
        data,
        Task.Lane.of(key, priority));
  }

  /** Reads a priority. */
  static int priority(JsonInput in) {
    return (int) in.integer(0, Task.Lane.MAX_PRIORITY);
  }

  private static @Nullable Owner owner(long client, @Nullable String principal) {
    if (principal != null) {
      return new Owner(principal, client);
    }
    return client == 0 ? null : Owner.client(client);
  }

  /** Writes a reference to a task: only the id, as a number, if there is no origin. */
  static void writeRef(JsonGenerator json, TaskRef ref) {
    if (ref.origin() == 0) {
      json.writeNumber(ref.id());
      return;
    }
    json.writeStartObject();
    writeRefFields(json, ref);
    json.writeEndObject();
  }

  /** Writes the fields {@code id} and {@code origin} of a reference, each unless it is 0. */
  static void writeRefFields(JsonGenerator json, TaskRef ref) {
    if (ref.id() != 0) {
      json.writeNumberProperty("id", ref.id());
    }
    if (ref.origin() != 0) {
      json.writeNumberProperty("origin", ref.origin());
    }
  }

  /** Writes a list of references, unless it is empty. */
  static void writeRefs(JsonGenerator json, String name, List<TaskRef> refs) {
    JsonText.listIfAny(json, name, refs, TaskForm::writeRef);
  }

  /** Reads a reference: a number, or an object with id, origin or both. */
  static TaskRef readRef(JsonInput in) {
    if (in.isNumber()) {
      return new TaskRef(in.integer(), 0);
    }
    if (!in.isObject()) {
      throw in.wrong("must be a task id, or an object with id or origin");
    }
    long id = 0;
    long origin = 0;
    for (String name = in.object(); name != null; name = in.field()) {
      switch (name) {
        case "id" -> id = in.integer();
        case "origin" -> origin = in.integer();
        default -> throw in.unknown();
      }
    }
    return new TaskRef(id, origin);
  }
}
