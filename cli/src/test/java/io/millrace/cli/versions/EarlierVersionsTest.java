package io.millrace.cli.versions;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.millrace.cli.Shell;
import io.millrace.cli.versions.Recording.Command;
import io.millrace.cli.versions.Recording.Exchange;
import io.millrace.server.MillraceServer;
import io.millrace.server.config.Configuration;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * Commands of earlier versions with this server, and commands of this version with servers of
 * earlier ones.
 */
final class EarlierVersionsTest {
  /** Fields whose values requests repeat. */
  private static final Set<String> NAMES =
      Set.of("id", "ids", "$oid", "inserted_ids", "key", "token", "position", "origin", "version");

  @TempDir private Path folder;

  /** What took the place of the values in the recording. */
  private final Map<String, String> values = new HashMap<>();

  @ParameterizedTest
  @ValueSource(strings = "2026-11-24")
  void commands_of_earlier_versions_get_the_answers_that_they_know(String version)
      throws Exception {
    Map<String, String> settings =
        Map.of("store.data", folder.resolve("data").toString(), "server.port", "0");
    List<String> wrong = new ArrayList<>();
    try (MillraceServer server =
            MillraceServer.start(Configuration.read(MillraceServer.SECTIONS, null, settings));
        HttpClient client = HttpClient.newHttpClient()) {
      URI address = URI.create("http://127.0.0.1:" + server.port());
      for (Command command : Recording.of(version).commands()) {
        for (Exchange exchange : command.exchanges()) {
          String problem = repeat(exchange, client, address);
          if (!problem.isEmpty()) {
            wrong.add(command.arguments() + ": " + problem);
          }
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  /**
   * Sends a request again; what an earlier client would not understand in the answer, or nothing.
   */
  private String repeat(Exchange exchange, HttpClient client, URI server) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(server.resolve(translated(exchange.path())))
            .method(
                exchange.method(),
                BodyPublishers.ofString(translated(exchange.body()), StandardCharsets.ISO_8859_1));
    exchange.headers().forEach((name, value) -> request.header(name, translated(value)));
    HttpResponse<String> answer = client.send(request.build(), BodyHandlers.ofString());
    String what = exchange.method() + " " + exchange.path();
    if (answer.statusCode() != exchange.status()) {
      return what + " has status " + answer.statusCode() + ": " + answer.body();
    }
    String type = answer.headers().firstValue("content-type").orElse("");
    if (!type.equals(exchange.answered().getOrDefault("content-type", ""))) {
      return what + " has type " + type;
    }
    for (String header : exchange.answered().keySet()) {
      if (answer.headers().firstValue(header).isEmpty()) {
        return what + " has no header " + header;
      }
    }
    try {
      JsonNode known = Recording.JSON.readTree(exchange.answer());
      List<String> missing = new ArrayList<>();
      compare("", known, Recording.JSON.readTree(answer.body()), missing);
      return missing.isEmpty() ? "" : what + " lacks " + missing + ": " + answer.body();
    } catch (JacksonException _) {
      return ""; // Text, for example output.
    }
  }

  private String translated(String text) {
    String translated = text;
    for (Map.Entry<String, String> value : values.entrySet()) {
      translated =
          translated.replaceAll("(?<![\\w-])" + value.getKey() + "(?![\\w-])", value.getValue());
    }
    return translated;
  }

  /** Adds where an answer has not what is known: a field, or a value of that type. */
  private void compare(String at, JsonNode known, JsonNode found, List<String> missing) {
    if (known.isObject() && found.isObject()) {
      known.forEachEntry((name, value) -> {
        JsonNode there = found.get(translated(name));
        if (there == null) {
          missing.add(at + "/" + name);
        } else {
          compare(at + "/" + name, value, there, missing);
        }
      });
    } else if (known.isArray() && found.isArray()) {
      if (found.size() < known.size()) {
        missing.add("%s[%d]".formatted(at, found.size()));
      }
      for (int i = 0; i < Math.min(known.size(), found.size()); i++) {
        compare(at + "[]", known.get(i), found.get(i), missing);
      }
    } else if (!known.isNull() && known.getNodeType() != found.getNodeType()) {
      missing.add(at + ", which is " + found.getNodeType());
    } else if (known.isValueNode() && NAMES.contains(at.replaceAll("\\[]$|.*/", ""))) {
      String before = known.asString();
      if (before.length() > 1 && !before.equals(found.asString())) {
        values.put(Pattern.quote(before), found.asString());
      }
    }
  }

  /** Commands of this version that a server of an earlier one cannot serve, as the guide says. */
  private static final Map<String, Set<String>> NEWER = Map.of("2026-11-24", Set.of());

  @ParameterizedTest
  @ValueSource(strings = "2026-11-24")
  void commands_work_with_servers_of_earlier_versions(String version) throws Exception {
    Files.writeString(folder.resolve("payload.txt"), "a payload\n");
    List<String> wrong = new ArrayList<>();
    List<Command> commands = Recording.of(version).commands();
    for (Command command : commands) {
      // Its own answers first, and then whatever else the earlier server has answered.
      List<Exchange> left = new ArrayList<>(command.exchanges());
      commands.forEach(other -> left.addAll(other.exchanges()));
      HttpServer server =
          HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      server.createContext("/", exchange -> answer(exchange, left));
      server.start();
      try {
        List<String> words = new ArrayList<>(command.arguments());
        words.replaceAll(
            word -> word.equals("payload.txt") ? folder.resolve(word).toString() : word);
        words.add("--server");
        words.add("http://127.0.0.1:" + server.getAddress().getPort());
        Shell.CommandResult result = Shell.run(words.toArray(String[]::new));
        String name = String.join(" ", words.subList(0, 2));
        if ((result.code() != 0) != NEWER.getOrDefault(version, Set.of()).contains(name)) {
          wrong.add(command.arguments() + " exits with " + result.code() + ": " + result.err());
        }
      } finally {
        server.stop(0);
      }
    }
    assertThat(wrong).isEmpty();
  }

  /**
   * Answers as the earlier server did. It knows no other paths, and no other parameters of them.
   */
  private static void answer(HttpExchange exchange, List<Exchange> left) throws IOException {
    exchange.getRequestBody().readAllBytes();
    Exchange asked =
        new Exchange(
            exchange.getRequestMethod(),
            exchange.getRequestURI().toString(),
            Map.of(),
            "",
            404,
            Map.of(),
            "");
    Exchange answer = left.stream().filter(asked::isLike).findFirst().orElse(asked);
    byte[] body = answer.answer().getBytes(StandardCharsets.UTF_8);
    // The next one of its kind is next.
    if (left.remove(answer)) {
      left.add(answer);
    }
    answer.answered().forEach(exchange.getResponseHeaders()::add);
    exchange.sendResponseHeaders(answer.status(), body.length == 0 ? -1 : body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }
}
