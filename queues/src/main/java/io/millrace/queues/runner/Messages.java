package io.millrace.queues.runner;

import io.millrace.queues.ObjectId;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
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
   * @param arguments those of {@link LocalRunners.Options.Command}
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

  /**
   * JSON objects, one a line, over a socket. One thread may read while others write; lines are
   * never mixed.
   */
  final class Lines implements AutoCloseable {
    /** No message is longer; who sends more is none of ours. */
    private static final int MAX_BYTES = 1 << 20;

    private static final JsonMapper MAPPER = new JsonMapper();

    private static final Logger LOG = LoggerFactory.getLogger(Lines.class);

    private final SocketChannel channel;
    private final InputStream in;

    Lines(SocketChannel channel) {
      this.channel = channel;
      this.in = new BufferedInputStream(Channels.newInputStream(channel));
    }

    static ObjectNode object() {
      return MAPPER.createObjectNode();
    }

    /** Reads an object; throws unchecked if it is none. */
    static JsonNode parse(byte[] json) {
      return MAPPER.readTree(json);
    }

    static byte[] bytes(JsonNode json) {
      return MAPPER.writeValueAsBytes(json);
    }

    /**
     * The next message; null at the end.
     *
     * @throws IOException when the other side is gone, or sends what is no message
     */
    @Nullable JsonNode read() throws IOException {
      ByteArrayOutputStream line = new ByteArrayOutputStream();
      for (int next = in.read(); next != '\n'; next = in.read()) {
        if (next < 0) {
          return null;
        }
        line.write(next);
        if (line.size() > MAX_BYTES) {
          throw new IOException("a line is too long");
        }
      }
      try {
        JsonNode message = parse(line.toByteArray());
        if (message == null || !message.isObject()) {
          throw new IOException("a line is no JSON object");
        }
        return message;
      } catch (JacksonException e) {
        throw new IOException("a line is no JSON: " + e.getOriginalMessage(), e);
      }
    }

    synchronized void write(JsonNode message) throws IOException {
      ByteBuffer line = ByteBuffer.wrap((message + "\n").getBytes(StandardCharsets.UTF_8));
      while (line.hasRemaining()) {
        channel.write(line);
      }
    }

    @Override
    public void close() {
      try {
        channel.close();
      } catch (IOException e) {
        LOG.debug("a socket cannot be closed", e);
      }
    }
  }
}
