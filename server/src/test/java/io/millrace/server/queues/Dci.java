package io.millrace.server.queues;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.queues.registry.Queues;
import io.millrace.server.TestServer;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Random;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A server, the command interface below {@code /dci}, and its queues from within. */
public final class Dci implements AutoCloseable {
  public static final String JSON = "application/json";
  public static final String FORM = "application/x-www-form-urlencoded";

  public static final JsonMapper MAPPER = JsonMapper.shared();

  private final TestServer server;
  public final Queues queues;

  /** On a folder, with further settings. */
  public Dci(Path folder, String... keysAndValues) {
    server = TestServer.in(folder, keysAndValues);
    queues = Queues.in(server.server().store(), Clock.systemUTC(), new Random(7));
  }

  public TestServer server() {
    return server;
  }

  /** JSON with single quotes for double ones. */
  public static JsonNode json(String text) {
    return MAPPER.readTree(text.replace('\'', '"'));
  }

  /** The answer to GET, which must be 200. */
  public JsonNode get(String path) throws IOException, InterruptedException {
    return ok(server.get("/dci" + path));
  }

  /** The answer to a POST of JSON, which must be 200. */
  public JsonNode post(String path, String body) throws IOException, InterruptedException {
    return ok(send("POST", path, JSON, body.replace('\'', '"')));
  }

  /** The answer to a POST of a form, which must be 200. */
  public JsonNode form(String path, String body) throws IOException, InterruptedException {
    return ok(send("POST", path, FORM, body));
  }

  /** The error that a request is answered with; its status must be 400. */
  public JsonNode refused(String method, String path, String body)
      throws IOException, InterruptedException {
    HttpResponse<String> response = send(method, path, JSON, body.replace('\'', '"'));
    assertThat(response.statusCode()).as(response.body()).isEqualTo(400);
    return MAPPER.readTree(response.body());
  }

  /** An answer of version 3 that is an error, though its status is 200. */
  public JsonNode mild(String path, String body) throws IOException, InterruptedException {
    JsonNode answer = post(path, body);
    assertThat(answer.get(0).asInt(-1)).as(answer.toString()).isZero();
    return answer;
  }

  public HttpResponse<String> send(String method, String path, String type, String body)
      throws IOException, InterruptedException {
    return server.send(method, "/dci" + path, body, "Content-Type", type);
  }

  public static JsonNode ok(HttpResponse<String> response) {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return MAPPER.readTree(response.body());
  }

  @Override
  public void close() {
    server.close();
  }
}
