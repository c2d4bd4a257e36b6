package io.millrace.cli.payload;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.client.ClientOptions;
import io.millrace.client.JsonCalls;
import java.nio.file.Path;
import java.time.Duration;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * A command of a graph that prints more than the heap of the server. {@code
 * -Dmillrace.output.bytes=1000000000} makes it print more.
 */
@Timeout(1_800)
class LargeOutputTest {
  private static final long BYTES = Long.getLong("millrace.output.bytes", 200_000_000);

  /** The numbers from 1 on, a line each, as far as they fit. */
  private static final String SCRIPT = "seq 1 99999999999 | head -c " + BYTES;

  /** The size of a text in bytes, and its checksum. */
  private record Sum(long bytes, long checksum) {}

  @Test
  void output_larger_than_the_heap_is_stored_and_read_whole(
      @TempDir Path root, TestReporter reporter) throws Exception {
    SmallServer server = SmallServer.start(root);
    try (JsonCalls calls = JsonCalls.open(ClientOptions.at(server.at("/")))) {
      long start = System.nanoTime();
      String id = add(calls);
      assertThat(settled(calls, id)).isEqualTo("finished");
      reporter.publishEntry("stored after", since(start));
      assertThat(read(calls, "/v1/nodes/" + id + "/data/stdout")).isEqualTo(printed());
      reporter.publishEntry("read after", since(start));
      reporter.publishEntry("most memory of the server", server.mostMemory());
    } finally {
      server.stop();
    }
  }

  private static String since(long startNanos) {
    return Duration.ofNanos(System.nanoTime() - startNanos).toString();
  }

  private static String add(JsonCalls calls) {
    ArrayNode nodes = JsonNodeFactory.instance.arrayNode();
    ObjectNode node = nodes.addObject();
    node.putObject("metadata").put("type", "shell command");
    node.putObject("data").put("command", SCRIPT);
    return calls.post("/v1/nodes", nodes).get(0).required("id").asString();
  }

  private static String settled(JsonCalls calls, String id) {
    String state = "running";
    while (state.equals("running") || state.equals("ready")) {
      state =
          calls.get("/v1/scheduler/wait?until=settled&timeout=20&id=" + id).required(id).asString();
    }
    return state;
  }

  private static Sum read(JsonCalls calls, String path) {
    CRC32C sum = new CRC32C();
    long bytes = 0;
    JsonNode page = calls.get(path);
    while (true) {
      byte[] part = page.required("data").asString().getBytes(US_ASCII);
      sum.update(part);
      bytes += part.length;
      JsonNode where = page.path("pagination");
      if (!where.path("next").isString()) {
        return new Sum(bytes, sum.getValue());
      }
      page =
          calls.get(
              path
                  + "?start="
                  + where.required("next").asString()
                  + "&pid="
                  + where.required("pid").asString());
    }
  }

  private static Sum printed() {
    CRC32C sum = new CRC32C();
    long bytes = 0;
    for (long number = 1; bytes < BYTES; number++) {
      byte[] line = (number + "\n").getBytes(US_ASCII);
      int some = (int) Math.min(line.length, BYTES - bytes);
      sum.update(line, 0, some);
      bytes += some;
    }
    return new Sum(bytes, sum.getValue());
  }
}
