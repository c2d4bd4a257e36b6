package io.millrace.queues.search;

import io.millrace.queues.Output;
import io.millrace.queues.QueueTask;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** What a filter is applied to: an object with named fields. */
@FunctionalInterface
public interface Subject {
  /** The value of a top-level field; null if it is absent. */
  @Nullable JsonNode field(String name);

  /** A JSON object. */
  static Subject of(ObjectNode object) {
    return object::get;
  }

  /** A task; ids are strings, times are milliseconds. */
  static Subject of(QueueTask task) {
    return name -> taskField(task, name);
  }

  private static @Nullable JsonNode taskField(QueueTask task, String name) {
    JsonNodeFactory json = JsonNodeFactory.instance;
    return switch (name) {
      case "_id" -> json.stringNode(task.id().hex());
      case "queue" -> json.stringNode(task.queue().hex());
      case "status" -> json.numberNode(task.status());
      case "node" -> textOrNull(task.progress().node());
      case "ctime" -> json.numberNode(task.ctimeMillis());
      case "mtime" -> json.numberNode(task.progress().mtimeMillis());
      case "params" -> task.params();
      case "stdout" -> output(task.output().stdout());
      case "stderr" -> output(task.output().stderr());
      case "mixedout" -> output(task.output().mixed());
      case "reason" ->
          task.progress().reason() == null ? null : textOrNull(task.progress().reason());
      case "orphaned" -> json.numberNode(task.progress().orphaned());
      case "attempt" -> json.numberNode(task.progress().attempt());
      case "snoozed" -> json.numberNode(task.progress().retries().snoozed());
      case "not_before" -> json.numberNode(task.progress().retries().notBeforeMillis());
      default -> null;
    };
  }

  private static JsonNode output(Output output) {
    return switch (output) {
      case Output.None() -> JsonNodeFactory.instance.nullNode();
      case Output.Text(String text) -> JsonNodeFactory.instance.stringNode(text);
      case Output.Stored stored -> JsonNodeFactory.instance.stringNode(stored.file().hex());
    };
  }

  private static JsonNode textOrNull(@Nullable String text) {
    return text == null
        ? JsonNodeFactory.instance.nullNode()
        : JsonNodeFactory.instance.stringNode(text);
  }
}
