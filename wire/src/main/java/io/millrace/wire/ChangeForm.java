package io.millrace.wire;

import io.millrace.store.Change;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Task;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** One thing that a commit did; the field {@code change} says what. */
final class ChangeForm {
  private ChangeForm() {}

  static void write(JsonGenerator json, Change change, long timeMillis, DataForm form) {
    json.writeStartObject();
    switch (change) {
      case Change.Added(Task task) -> {
        json.writeStringProperty("change", "added");
        json.writeName("task");
        TaskForm.write(json, task, timeMillis, form);
      }
      case Change.Changed(long oldId, Task task, boolean dataKept) -> {
        json.writeStringProperty("change", "changed");
        json.writeNumberProperty("oldid", oldId);
        if (dataKept) {
          json.writeBooleanProperty("datakept", true);
        }
        json.writeName("task");
        TaskForm.write(json, task, timeMillis, form);
      }
      case Change.Deleted(long id, long origin, String group) -> {
        json.writeStringProperty("change", "deleted");
        json.writeNumberProperty("id", id);
        json.writeNumberProperty("origin", origin);
        json.writeStringProperty("group", group);
      }
      case Change.DocumentPut(long oldVersion, Document document) -> {
        json.writeStringProperty("change", "documentput");
        json.writeNumberProperty("oldversion", oldVersion);
        json.writeName("document");
        DocumentForm.write(json, document, form);
      }
      case Change.DocumentDeleted(DocumentKey key, long oldVersion) -> {
        json.writeStringProperty("change", "documentdeleted");
        DocumentForm.writeKey(json, key);
        json.writeNumberProperty("oldversion", oldVersion);
      }
    }
    json.writeEndObject();
  }

  static Change read(JsonInput in) {
    Parts parts = new Parts();
    in.object();
    for (String name = in.field(); name != null; name = in.field()) {
      switch (name) {
        case "change" -> parts.change = in.text();
        case "task" -> parts.task = TaskForm.read(in);
        case "document" -> parts.document = DocumentForm.read(in);
        case "oldid" -> parts.oldId = TaskForm.id(in);
        case "datakept" -> parts.dataKept = in.truth();
        case "oldversion" -> parts.oldVersion = in.integer(0, Long.MAX_VALUE);
        case "id" -> parts.id = TaskForm.id(in);
        case "origin" -> parts.origin = TaskForm.id(in);
        case "group" -> parts.group = in.text();
        case "collection" -> parts.collection = in.text();
        case "key" -> parts.key = in.text();
        default -> in.skip();
      }
    }
    Change change = parts.change();
    if (change == null) {
      throw in.lacking("is no change, or lacks a part of one");
    }
    return change;
  }

  /** What has been read of a change. */
  private static final class Parts {
    String change = "";
    @Nullable Task task;
    @Nullable Document document;
    long oldId;
    boolean dataKept;
    long oldVersion;
    long id;
    long origin;
    @Nullable String group;
    @Nullable String collection;
    @Nullable String key;

    @Nullable Change change() {
      return switch (change) {
        case "added" -> task == null ? null : new Change.Added(task);
        case "changed" ->
            task == null || oldId == 0 ? null : new Change.Changed(oldId, task, dataKept);
        case "deleted" ->
            id == 0 || origin == 0 || group == null ? null : new Change.Deleted(id, origin, group);
        case "documentput" ->
            document == null ? null : new Change.DocumentPut(oldVersion, document);
        case "documentdeleted" ->
            collection == null || key == null
                ? null
                : new Change.DocumentDeleted(new DocumentKey(collection, key), oldVersion);
        default -> null;
      };
    }
  }
}
