package io.millrace.bench;

import io.millrace.client.ClientOptions;
import io.millrace.client.JsonCalls;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Nodes of a server's graph that wait until they are let go, all at once: a group below a node that
 * waits for a file. Their times are those that the nodes tell.
 *
 * @param gate the id of what waits for the file
 * @param group the id of what all are in
 * @param file the file
 */
record BenchGraph(JsonCalls calls, String gate, String group, Path file) implements AutoCloseable {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  /** As many as a request may have. */
  private static final int REQUEST = 10_000;

  /** The server at a port; ten thousand nodes in an answer may take their time. */
  static JsonCalls calls(int port) {
    return JsonCalls.open(
        ClientOptions.at(URI.create("http://127.0.0.1:" + port))
            .withAnswerTimeout(Duration.ofMinutes(10)));
  }

  /** Adds what holds them back; the file must not be there. */
  static BenchGraph create(JsonCalls calls, Path file) {
    ArrayNode nodes = JSON.arrayNode();
    ObjectNode gate = nodes.addObject();
    gate.putObject("metadata").put("type", "wait for").put("local", "gate");
    gate.putObject("data").put("file", file.toString()).put("interval", 0.1);
    nodes.addObject().putObject("metadata").put("type", "group").put("parent", "local:gate");
    JsonNode added = calls.post("/v1/nodes", nodes);
    return new BenchGraph(calls, id(added.path(0)), id(added.path(1)), file);
  }

  private static String id(JsonNode node) {
    return node.path("id").asString();
  }

  /** Adds so many nodes of a type with the same data. */
  void add(int count, String type, ObjectNode data) {
    byte[] whole = request(REQUEST, type, data);
    for (int left = count; left > 0; left -= REQUEST) {
      calls.post("/v1/nodes", left >= REQUEST ? whole : request(left, type, data));
    }
  }

  private byte[] request(int count, String type, ObjectNode data) {
    ArrayNode nodes = JSON.arrayNode();
    for (int i = 0; i < count; i++) {
      ObjectNode node = nodes.addObject();
      node.putObject("metadata").put("type", type).put("parent", group);
      node.set("data", data);
    }
    return JsonMapper.shared().writeValueAsBytes(nodes);
  }

  /**
   * Lets them go, and waits until all have ended.
   *
   * @return how long they took
   * @throws BenchException when one of them has failed
   */
  Duration run() throws IOException {
    Files.createFile(file);
    String state = calls.get("/v1/scheduler/wait?until=settled&id=" + group).path(group).asString();
    if (!state.equals("finished")) {
      throw new BenchException("a group of nodes is " + state);
    }
    JsonNode told = calls.get("/v1/nodes/" + group);
    return Duration.ofMillis(told.path("ended").asLong() - told.path("started").asLong());
  }

  /** Removes all of them. */
  @Override
  public void close() throws IOException {
    calls.delete("/v1/nodes/" + gate + "?below=true");
    Files.deleteIfExists(file);
  }
}
