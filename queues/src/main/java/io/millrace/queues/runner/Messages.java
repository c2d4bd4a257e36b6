package io.millrace.queues.runner;

import io.millrace.queues.ObjectId;
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

/** The messages between a node and its runners, one JSON object per line. */
sealed interface Messages {

  /**
   * The first message of a runner.
   *
   * @param name the name of its folder
   * @param identity its process
   * @param task its current task; null for none
   */
  record Hello(String name, String identity, @Nullable ObjectId task) implements Messages {}

  /**
   * A runner has ended a task.
   *
   * @param last whether the runner ends now and takes no other task
   */
  record Ended(ObjectId task, boolean last) implements Messages {}

  /**
   * A runner has renewed its claim, or has ended its work although it could not report yet.
   *
   * @param left how long the claim lasts from now on; zero if nothing is left of the work
   */
  record Holds(ObjectId task, Duration left) implements Messages {}

  /**
   * A node tells a runner that an earlier node has started how to reach the server now.
   *
   * @param arguments those of {@link LocalRunners.Options.Command}
   */
  record Server(List<String> arguments) implements Messages {
    public Server {
      arguments = List.copyOf(arguments);
    }
  }

  /** A node hands over a run. */
  record Assign(Assignment assignment) implements Messages {}

  /** A node requests the end of a task. */
  record Stop(ObjectId task, Duration grace) implements Messages {}

  /** A node no longer needs the runner once its task has ended. */
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

  /** Reads the output of {@link #write}; throws an unchecked exception for anything else. */
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
          // Runners of older versions do not say whether it was their last task.
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
   * JSON objects, one per line, over a socket. One thread may read while others write; lines are
   * never mixed.
   */
  final class Lines implements AutoCloseable {
    /** The longest message; a longer line is not from a runner or node. */
    private static final int MAX_BYTES = 1 << 20;

    private static final JsonMapper MAPPER = new JsonMapper();

    private static final Logger LOG = LoggerFactory.getLogger(Lines.class);

    private final SocketChannel channel;
    private final InputStream in;

    /** What was received and is not read yet, from {@code next} up to {@code end}. */
    private final byte[] received = new byte[8 << 10];

    private int next;
    private int end;

    Lines(SocketChannel channel) {
      this.channel = channel;
      this.in = Channels.newInputStream(channel);
    }

    static ObjectNode object() {
      return MAPPER.createObjectNode();
    }

    /** Reads an object; throws an unchecked exception if it is malformed. */
    static JsonNode parse(byte[] json) {
      return MAPPER.readTree(json);
    }

    static byte[] bytes(JsonNode json) {
      return MAPPER.writeValueAsBytes(json);
    }

    /**
     * The next message; null at the end.
     *
     * @throws IOException if the connection is broken, or a message is malformed
     */
    @Nullable JsonNode read() throws IOException {
      ByteArrayOutputStream line = new ByteArrayOutputStream();
      while (!readPart(line)) {
        next = 0;
        end = in.read(received);
        if (end < 0) {
          return null;
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

    /** Reads what was received of a line; returns whether that is its end. */
    private boolean readPart(ByteArrayOutputStream line) throws IOException {
      int from = next;
      while (next < end && received[next] != '\n') {
        next++;
      }
      line.write(received, from, next - from);
      if (line.size() > MAX_BYTES) {
        throw new IOException("a line is too long");
      }
      boolean whole = next < end;
      next++;
      return whole;
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
