package io.millrace.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import picocli.CommandLine;

/**
 * Every command that talks to a server, made to fail in each way: its message names the cause in
 * words, never the class of an exception. The command lines are the examples in their help.
 */
final class FailureMessagesTest {
  /** A class of Java, or what a stack trace consists of. */
  private static final Pattern CLASS =
      Pattern.compile(
          "[A-Z]\\w*(?:Exception|Error)\\b|\\b(?:java|io|tools|picocli)\\.\\w+\\.\\w|\\tat ");

  /** A word of a line of a shell, with its quotes. */
  private static final Pattern WORD = Pattern.compile("(?:'[^']*'|\"[^\"]*\"|[^\\s'\"])+");

  private static final List<String> EXAMPLES = examples();

  private static List<String> examples() {
    try (InputStream in =
        Objects.requireNonNull(Millrace.class.getResourceAsStream("examples.txt"))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Commands that go on while there is no failure. */
  private static final List<String> LASTING = List.of("watch", "tail", "wait");

  /** Commands that go on, and try again until the server is back. */
  private static final List<String> PATIENT = List.of("node", "worker", "member", "runner");

  @TempDir static Path folder = Path.of("");

  private static final List<CommandLine> CLIENTS = clients();

  private static HttpServer server;
  private static int closedPort;

  /** What goes wrong, and what the message must name. */
  enum Failure {
    UNREACHABLE("no answer from http://127.0.0.1:", 1),
    NOT_FOUND("the server's words", 404, "{\"error\": \"the server's words\"}"),
    WRONG_TOKEN("--token-file", 401, "{\"error\": \"credentials are wrong\"}"),
    FORBIDDEN("the server's words", 403, "{\"error\": \"the server's words\"}"),
    NO_JSON("", 200, "<html>a proxy's page</html>"),
    BROKEN("a page that is not of Millrace", 500, "<html>broken</html>");

    private final String named;
    private final int status;
    private final String body;

    Failure(String named, int status, String... body) {
      this.named = named;
      this.status = status;
      this.body = String.join("", body);
    }
  }

  @BeforeAll
  static void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    for (Failure failure : Failure.values()) {
      byte[] body = failure.body.getBytes(StandardCharsets.UTF_8);
      server.createContext(
          "/" + failure.name().toLowerCase(Locale.ROOT) + "/",
          exchange -> {
            exchange.getRequestBody().readAllBytes();
            boolean json = failure.body.startsWith("{");
            exchange
                .getResponseHeaders()
                .add("Content-Type", json ? "application/json" : "text/html");
            exchange.sendResponseHeaders(failure.status, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
          });
    }
    server.start();
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      closedPort = free.getLocalPort();
    }
  }

  @AfterAll
  static void stop() {
    server.stop(0);
  }

  private static String address(Failure failure) {
    return failure == Failure.UNREACHABLE
        ? "http://127.0.0.1:" + closedPort
        : "http://127.0.0.1:%d/%s"
            .formatted(server.getAddress().getPort(), failure.name().toLowerCase(Locale.ROOT));
  }

  /** All commands without commands below them. */
  private static Stream<CommandLine> leaves(CommandLine command) {
    return command.getSubcommands().isEmpty()
        ? Stream.of(command)
        : command.getSubcommands().values().stream()
            .distinct()
            .flatMap(FailureMessagesTest::leaves);
  }

  private static List<String> words(CommandLine command) {
    List<String> words =
        new ArrayList<>(List.of(command.getCommandSpec().qualifiedName().split(" ")));
    words.removeFirst();
    return words;
  }

  /** The commands that end if a server fails. */
  private static List<CommandLine> clients() {
    return leaves(Millrace.program())
        .filter(leaf -> !leaf.getCommandSpec().usageMessage().hidden())
        .filter(leaf -> option(leaf) != null)
        .filter(leaf -> !PATIENT.contains(leaf.getCommandName()))
        .toList();
  }

  /** The option that names the server. */
  private static @Nullable String option(CommandLine leaf) {
    return Stream.of("--server", "--documents")
        .filter(name -> leaf.getCommandSpec().findOption(name) != null)
        .findFirst()
        .orElse(null);
  }

  /** The first example in the help of a command, with this server. */
  private static List<String> line(CommandLine leaf, Failure failure) {
    List<String> line = new ArrayList<>(example(leaf));
    String option = Objects.requireNonNull(option(leaf));
    String place = option.equals("--documents") ? "store:" : "";
    line.addAll(words(leaf).size(), List.of(option, place + address(failure)));
    return line;
  }

  private static List<String> example(CommandLine leaf) {
    String start = leaf.getCommandSpec().qualifiedName();
    return EXAMPLES.stream()
        .filter(line -> (line + " ").startsWith(start + " ") && !line.contains("$"))
        .map(line -> line.replaceAll(" [|>&].*", ""))
        .filter(line -> !line.contains("--server"))
        .findFirst()
        .map(line ->
            WORD.matcher(line)
                .results()
                .skip(1)
                .map(word -> word.group().replaceAll("['\"]", ""))
                .toList())
        .orElse(words(leaf));
  }

  @ParameterizedTest
  @EnumSource
  void a_failure_is_told_in_words(Failure failure) {
    List<List<String>> lines = CLIENTS.stream().map(client -> line(client, failure)).toList();
    List<String> wrong = new ArrayList<>();
    List<String> silent = new ArrayList<>();
    // At the same time, since each tries again for some seconds.
    List<Future<Shell.CommandResult>> results = new ArrayList<>();
    try (ExecutorService all = Executors.newVirtualThreadPerTaskExecutor()) {
      for (List<String> line : lines) {
        results.add(all.submit(() -> Shell.run(line.toArray(String[]::new))));
      }
    }
    List<String> silentForLong = new ArrayList<>();
    // To wait for what does not exist is no failure of the server, and said in words of its own.
    List<String> excepted = failure == Failure.NOT_FOUND ? List.of("wait") : List.of();
    for (int i = 0; i < lines.size(); i++) {
      Shell.CommandResult ran = results.get(i).resultNow();
      String said = lines.get(i) + " exits with " + ran.code() + " and says " + ran.err();
      if (CLASS.matcher(ran.err()).find() || (ran.code() == 0 && failure != Failure.NO_JSON)) {
        wrong.add(said);
      }
      if (!ran.err().contains(failure.named)) {
        silent.add(said);
        CommandLine client = CLIENTS.get(i);
        if (isLastingOrOfCluster(client) && !excepted.contains(client.getCommandName())) {
          silentForLong.add(said);
        }
      }
    }
    assertThat(silentForLong).isEmpty();
    assertThat(wrong).isEmpty();
    // Some look at their arguments first, and these are made up.
    assertThat(silent).hasSizeLessThan(lines.size() / 3);
  }

  private static boolean isLastingOrOfCluster(CommandLine leaf) {
    return LASTING.contains(leaf.getCommandName()) || "--documents".equals(option(leaf));
  }

  @Test
  void lasting_commands_and_those_of_clusters_are_among_them() {
    assertThat(CLIENTS.stream().filter(FailureMessagesTest::isLastingOrOfCluster))
        .extracting(leaf -> String.join(" ", words(leaf)))
        .contains("store watch", "tasks tail", "jobs wait", "graph watch", "cluster status")
        .contains("cluster watch");
  }

  @Test
  void a_file_that_is_missing_is_named() {
    List<String> wrong = new ArrayList<>();
    for (CommandLine client : CLIENTS) {
      List<String> line = line(client, Failure.NOT_FOUND);
      String missing = folder.resolve("missing").toString();
      line.addAll(words(client).size(), List.of("--token-file", missing));
      Shell.CommandResult ran = Shell.run(line.toArray(String[]::new));
      if (CLASS.matcher(ran.err()).find() || ran.code() == 0 || !ran.err().contains(missing)) {
        wrong.add(line + " exits with " + ran.code() + " and says " + ran.err());
      }
    }
    assertThat(wrong).isEmpty();
  }

  @Test
  void the_version_is_a_command_too() {
    Shell.CommandResult ran = Shell.run("version");
    assertThat(ran.code()).as(ran.err()).isZero();
    assertThat(ran.out()).startsWith("millrace ").isEqualTo(Shell.run("--version").out());
  }
}
