package io.millrace.server.graph;

import io.millrace.graph.GraphChanges;
import io.millrace.graph.GraphChanges.GraphEvent;
import io.millrace.http.json.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** A stream of server-sent events. */
final class HttpChanges implements GraphChanges {
  private static final String DATA = "data: ";

  private final BufferedReader lines;

  HttpChanges(Calls calls, String query) {
    this.lines =
        new BufferedReader(
            new InputStreamReader(calls.stream("/events" + query), StandardCharsets.UTF_8));
  }

  /** The next message. */
  JsonNode message() throws IOException {
    String line = lines.readLine();
    while (!line.startsWith(DATA)) {
      line = lines.readLine();
    }
    return Json.MAPPER.readTree(line.substring(DATA.length()));
  }

  /** Waits for as long as it takes: whoever asks here knows that something comes. */
  @Override
  public List<GraphEvent> next(Duration timeout) {
    try {
      return List.of(Forms.event(message()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    try {
      lines.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
