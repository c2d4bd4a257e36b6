package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.queues.registry.Queues;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Random;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A server, the command interface below {@code /dci}, and its queues from within. */
final class Dci implements AutoCloseable {
  static final String JSON = "application/json";
  static final String FORM = "application/x-www-form-urlencoded";

  static final JsonMapper MAPPER = JsonMapper.shared();

  private final TestServer server;
  final Queues queues;

  /** On a folder, with further settings. */
  Dci(Path folder, String... keysAndValues) {
    server = TestServer.in(folder, keysAndValues);
    queues = Queues.in(server.server().store(), Clock.systemUTC(), new Random(7));
  }

  TestServer server() {
    return server;
  }

  /** JSON with single quotes for double ones. */
  static JsonNode json(String text) {
    return MAPPER.readTree(text.replace('\'', '"'));
  }

  /** The answer to GET, which must be 200. */
  JsonNode get(String path) throws IOException, InterruptedException {
    return ok(server.get("/dci" + path));
  }

  /** The answer to a POST of JSON, which must be 200. */
  JsonNode post(String path, String body) throws IOException, InterruptedException {
    return ok(send("POST", path, JSON, body.replace('\'', '"')));
  }

  /** The answer to a POST of a form, which must be 200. */
  JsonNode form(String path, String body) throws IOException, InterruptedException {
    return ok(send("POST", path, FORM, body));
  }

  /** The error that a request is answered with; its status must be 400. */
  JsonNode refused(String method, String path, String body)
      throws IOException, InterruptedException {
    HttpResponse<String> response = send(method, path, JSON, body.replace('\'', '"'));
    assertThat(response.statusCode()).as(response.body()).isEqualTo(400);
    return MAPPER.readTree(response.body());
  }

  /** An answer of version 3 that is an error, though its status is 200. */
  JsonNode mild(String path, String body) throws IOException, InterruptedException {
    JsonNode answer = post(path, body);
    assertThat(answer.get(0).asInt(-1)).as(answer.toString()).isZero();
    return answer;
  }

  HttpResponse<String> send(String method, String path, String type, String body)
      throws IOException, InterruptedException {
    return server.send(method, "/dci" + path, body, "Content-Type", type);
  }

  static JsonNode ok(HttpResponse<String> response) {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return MAPPER.readTree(response.body());
  }

  @Override
  public void close() {
    server.close();
  }
}
