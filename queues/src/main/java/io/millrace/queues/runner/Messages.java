package io.millrace.queues.runner;

import io.millrace.queues.ObjectId;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** What a node and its runners say to each other, one JSON object a line. */
sealed interface Messages {

  /**
   * A runner says who it is, first of all.
   *
   * @param name the name of its folder
   * @param identity its process
   * @param task what it works on; null for nothing
   */
  record Hello(String name, String identity, @Nullable ObjectId task) implements Messages {}

  /**
   * A runner has nothing more to do with a task.
   *
   * @param last whether it ends now and takes no other
   */
  record Ended(ObjectId task, boolean last) implements Messages {}

  /**
   * A runner has prolonged its claim, or has ended its work although it could not report yet.
   *
   * @param left how long the claim lasts from now on; zero when nothing is left of the work
   */
  record Holds(ObjectId task, Duration left) implements Messages {}

  /**
   * A node says how the server is reached now, to a runner that an earlier node started.
   *
   * @param arguments those of {@link LocalRunnersOptions.Command}
   */
  record Server(List<String> arguments) implements Messages {
    /** Copies the list. */
    public Server {
      arguments = List.copyOf(arguments);
    }
  }

  /** A node hands over a run. */
  record Assign(Assignment assignment) implements Messages {}

  /** A node wants the end of a task. */
  record Stop(ObjectId task, Duration grace) implements Messages {}

  /** A node needs the runner no more once its task has ended. */
  record Quit() implements Messages {}

  static ObjectNode write(Messages message) {
    ObjectNode json = Lines.object();
    switch (message) {
      case Hello(String name, String identity, ObjectId task) ->
          json.put("say", "hello")
              .put("name", name)
              .put("identity", identity)
              .put("task", task == null ? null : task.hex());
      case Ended(ObjectId task, boolean last) ->
          json.put("say", "ended").put("task", task.hex()).put("last", last);
      case Holds(ObjectId task, Duration left) ->
          json.put("say", "holds").put("task", task.hex()).put("left", left.toMillis());
      case Server(List<String> arguments) -> {
        ArrayNode list = json.put("say", "server").putArray("arguments");
        arguments.forEach(list::add);
      }
      case Assign(Assignment assignment) ->
          json.put("say", "assign").set("assignment", assignment.write());
      case Stop(ObjectId task, Duration grace) ->
          json.put("say", "stop").put("task", task.hex()).put("grace", grace.toMillis());
      case Quit() -> json.put("say", "quit");
    }
    return json;
  }

  /** Reads what {@link #write} wrote; throws unchecked for anything else. */
  static Messages read(JsonNode json) {
    String word = json.required("say").asString();
    return switch (word) {
      case "hello" -> {
        JsonNode task = json.path("task");
        yield new Hello(
            json.required("name").asString(),
            json.required("identity").asString(),
            task.isString() ? new ObjectId(task.asString()) : null);
      }
      case "ended" ->
          // Runners of older versions do not say whether it was their last.
          new Ended(
              new ObjectId(json.required("task").asString()), json.path("last").asBoolean(false));
      case "holds" ->
          new Holds(
              new ObjectId(json.required("task").asString()),
              Duration.ofMillis(json.required("left").asLong()));
      case "server" ->
          new Server(json.required("arguments").valueStream().map(JsonNode::asString).toList());
      case "assign" -> new Assign(Assignment.read(json.required("assignment")));
      case "stop" ->
          new Stop(
              new ObjectId(json.required("task").asString()),
              Duration.ofMillis(json.required("grace").asLong()));
      case "quit" -> new Quit();
      default -> throw new IllegalArgumentException("nobody says " + word);
    };
  }
}
