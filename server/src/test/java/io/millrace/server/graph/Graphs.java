package io.millrace.server.graph;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.server.TestServer;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** A server and its graph below {@code /v1}. */
public final class Graphs implements AutoCloseable {
  public static final JsonMapper MAPPER = JsonMapper.shared();

  private final TestServer server;

  /** On a folder, with further settings. */
  public Graphs(Path folder, String... keysAndValues) {
    server = TestServer.in(folder, keysAndValues);
  }

  public TestServer server() {
    return server;
  }

  /** JSON with single quotes for double ones. */
  public static JsonNode json(String text) {
    return MAPPER.readTree(text.replace('\'', '"'));
  }

  /** The answer to GET, which must be 200. */
  public JsonNode get(String path, String... headers) throws IOException, InterruptedException {
    return body(200, server.get("/v1" + path, headers));
  }

  public HttpResponse<String> send(String method, String path, String body, String... headers)
      throws IOException, InterruptedException {
    return server.send(method, "/v1" + path, body.replace('\'', '"'), headers);
  }

  /** The answer to a request, which must have this status. */
  public JsonNode answer(int status, String method, String path, String body, String... headers)
      throws IOException, InterruptedException {
    return body(status, send(method, path, body, headers));
  }

  /** The error that a request is answered with; its status must be this. */
  public String refused(int status, String method, String path, String body, String... headers)
      throws IOException, InterruptedException {
    return answer(status, method, path, body, headers).required("error").asString();
  }

  private static JsonNode body(int status, HttpResponse<String> response) {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
    return MAPPER.readTree(response.body());
  }

  /** Adds nodes and gives their ids. */
  public List<String> add(String nodes) throws IOException, InterruptedException {
    List<String> ids = new ArrayList<>();
    answer(201, "POST", "/nodes", nodes).forEach(node -> ids.add(node.required("id").asString()));
    return ids;
  }

  /** Adds one node of a type with data below a parent. */
  public String add(String type, String parent, String data)
      throws IOException, InterruptedException {
    return add("[{'metadata': {'type': '"
            + type
            + "', 'parent': '"
            + parent
            + "'}, 'data': "
            + data
            + "}]")
        .getFirst();
  }

  /** Adds a script. */
  public String script(String parent, String script) throws IOException, InterruptedException {
    ArrayNode nodes = MAPPER.createArrayNode();
    ObjectNode node = nodes.addObject();
    node.putObject("metadata").put("type", "shell command").put("parent", parent);
    node.putObject("data").put("command", script);
    JsonNode added = body(201, server.send("POST", "/v1/nodes", nodes.toString()));
    return added.get(0).required("id").asString();
  }

  /** The state of a node once it has settled. */
  public String settled(String id) throws IOException, InterruptedException {
    return get("/scheduler/wait?until=settled&timeout=60&id=" + id).required(id).asString();
  }

  /** The state of a node now. */
  public String state(String id) throws IOException, InterruptedException {
    return get("/nodes/" + id).required("state").asString();
  }

  /** A value of data. */
  public JsonNode data(String id, String key) throws IOException, InterruptedException {
    return get("/nodes/" + id + "/data/" + key).required("data");
  }

  @Override
  public void close() {
    server.close();
  }
}
