package io.millrace.cli.versions;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.databind.json.JsonMapper;

/**
 * What the commands of a version and a server of the same version said to each other.
 *
 * @param commands in the order of their runs
 */
record Recording(List<Command> commands) {
  static final JsonMapper JSON = new JsonMapper();

  /**
   * A command.
   *
   * @param arguments its words
   * @param exchanges its requests, in their order, with their answers
   */
  record Command(List<String> arguments, List<Exchange> exchanges) {}

  /**
   * A request and its answer.
   *
   * @param path with the query
   * @param headers of the request, without those of the connection
   * @param body in ISO 8859-1
   * @param answered headers of the answer, without those of the connection
   * @param answer in UTF-8
   */
  record Exchange(
      String method,
      String path,
      Map<String, String> headers,
      String body,
      int status,
      Map<String, String> answered,
      String answer) {

    /** Whether another one is of the same path and has all parameters of this one. */
    boolean isLike(Exchange other) {
      return method.equals(other.method)
          && URI.create(path).getPath().equals(URI.create(other.path).getPath())
          && other.parameters().containsAll(parameters());
    }

    private Set<String> parameters() {
      String query = URI.create(path).getQuery();
      return query == null
          ? Set.of()
          : Stream.of(query.split("&", -1))
              .map(each -> each.replaceAll("=.*", ""))
              .collect(Collectors.toSet());
    }
  }

  /** That of a version, with a line for each command. */
  static Recording of(String version) throws IOException {
    try (InputStream in =
        Objects.requireNonNull(Recording.class.getResourceAsStream(version + ".jsonl"), version)) {
      return new Recording(
          new String(in.readAllBytes(), StandardCharsets.UTF_8)
              .lines()
              .map(line -> JSON.readValue(line, Command.class))
              .toList());
    }
  }
}
