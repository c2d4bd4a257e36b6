package io.millrace.wire;

import io.millrace.store.Commit;
import io.millrace.store.Commit.Change;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Owner;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.Task;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * The events of {@code GET /store/changes}. The data of each is one line of JSON. Every {@code
 * read} method ignores unknown fields, and throws {@link WireException} if the data does not have
 * the expected form. Thread-safe.
 */
public final class ChangeStream {
  /**
   * The name of the first event, which says where the stream begins. {@link
   * Responses#write(Position, long)} writes its data.
   */
  public static final String START = "start";

  /** The name of an event for one commit. */
  public static final String COMMIT = "commit";

  /** The name of the last event of a stream that cannot continue because its position is lost. */
  public static final String LOST = "lost";

  private ChangeStream() {}

  /** Writes the data of a {@link #COMMIT} event. */
  public static byte[] write(Commit commit, DataForm form) {
    return JsonText.write(json -> {
      json.writeStartObject();
      json.writeStringProperty("position", commit.position().toString());
      json.writeNumberProperty("time", commit.timeMillis());
      json.writeNumberProperty("clientid", Scalars.clientId(commit.client().client()));
      if (!commit.client().principal().isEmpty()) {
        json.writeStringProperty("principal", commit.client().principal());
      }
      if (commit.override()) {
        json.writeBooleanProperty("override", true);
      }
      JsonText.list(
          json,
          "changes",
          commit.changes(),
          (out, change) -> writeChange(out, change, commit.timeMillis(), form));
      json.writeEndObject();
    });
  }

  private static void writeChange(
      JsonGenerator json, Change change, long timeMillis, DataForm form) {
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

  /** Reads what {@link #write(Commit, DataForm)} wrote. */
  public static Commit readCommit(byte[] data) {
    return JsonInput.read(
        data,
        in -> {
          Position position = null;
          long time = 0;
          long client = 0;
          String principal = Owner.ANYONE;
          boolean override = false;
          List<Change> changes = List.of();
          for (String name = in.object(); name != null; name = in.field()) {
            switch (name) {
              case "position" -> position = Scalars.position(in);
              case "time" -> time = in.integer();
              case "clientid" -> client = Scalars.clientId(in);
              case "principal" -> principal = in.text();
              case "override" -> override = in.bool();
              case "changes" -> changes = in.list(ChangeStream::readChange);
              default -> in.skip();
            }
          }
          if (position == null) {
            throw in.wrong("is a commit without a position");
          }
          return new Commit(position, time, new Owner(principal, client), override, changes);
        });
  }

  private static Change readChange(JsonInput in) {
    ChangeFields fields = new ChangeFields();
    for (String name = in.object(); name != null; name = in.field()) {
      switch (name) {
        case "change" -> fields.change = in.text();
        case "task" -> fields.task = TaskForm.read(in);
        case "document" -> fields.document = DocumentForm.read(in);
        case "oldid" -> fields.oldId = in.integer();
        case "datakept" -> fields.dataKept = in.bool();
        case "oldversion" -> fields.oldVersion = in.integer(0, Long.MAX_VALUE);
        case "id" -> fields.id = in.integer();
        case "origin" -> fields.origin = in.integer();
        case "group" -> fields.group = in.text();
        case "collection" -> fields.collection = in.text();
        case "key" -> fields.key = in.text();
        default -> in.skip();
      }
    }
    Change change = fields.change();
    if (change == null) {
      throw in.wrong("is not a change, or is incomplete");
    }
    return change;
  }

  /** The fields of a change that have been read so far. */
  private static final class ChangeFields {
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

    /** The change that the fields describe; null if they are incomplete. */
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

  /** Reads the position in the data of a {@link #START} event. */
  public static Position readPosition(byte[] data) {
    return JsonInput.read(
        data,
        in -> {
          Position position = null;
          for (String name = in.object(); name != null; name = in.field()) {
            if (name.equals("position")) {
              position = Scalars.position(in);
            } else {
              in.skip();
            }
          }
          if (position == null) {
            throw in.wrong("needs a position");
          }
          return position;
        });
  }

  /** Writes the data of a {@link #LOST} event. */
  public static byte[] write(PositionLostException lost) {
    return JsonText.write(json -> {
      json.writeStartObject();
      json.writeStringProperty("why", Scalars.name(lost.why()));
      json.writeStringProperty("position", lost.position().toString());
      json.writeStringProperty("error", String.valueOf(lost.getMessage()));
      json.writeEndObject();
    });
  }

  /** Reads what {@link #write(PositionLostException)} wrote. */
  public static PositionLostException readLost(byte[] data) {
    return JsonInput.read(
        data,
        in -> {
          PositionLostException.Why why = null;
          Position position = null;
          String message = "";
          for (String name = in.object(); name != null; name = in.field()) {
            switch (name) {
              case "why" -> why = Scalars.why(in);
              case "position" -> position = Scalars.position(in);
              case "error" -> message = in.text();
              default -> in.skip();
            }
          }
          if (why == null || position == null) {
            throw in.wrong("needs a position and the field why");
          }
          return new PositionLostException(why, position, message);
        });
  }
}
