package io.millrace.cli.graph;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Millrace;
import io.millrace.cli.Shell;
import io.millrace.cli.terminal.Terminal;
import io.millrace.server.MillraceServer;
import io.millrace.server.config.Configuration;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A server with a graph in this process, and commands that call it. */
final class GraphFixture implements AutoCloseable {
  private static final JsonMapper JSON = new JsonMapper();

  private final Path folder;
  private MillraceServer server;

  GraphFixture(Path folder) {
    this.folder = folder;
    server = start(0);
  }

  private MillraceServer start(int port) {
    return MillraceServer.start(
        Configuration.read(
            MillraceServer.SECTIONS,
            null,
            Map.of("store.data", folder.toString(), "server.port", Integer.toString(port))));
  }

  /** Stops the server and starts another on its folder and port. */
  void restart() {
    int port = server.port();
    server.close();
    server = start(port);
  }

  private String[] asking(String... command) {
    // Before what follows the first word of a command that is added.
    return Stream.of(
            Stream.of(command).limit(2),
            Stream.of("--server", "http://127.0.0.1:" + server.port()),
            Stream.of(command).skip(2))
        .flatMap(words -> words)
        .toArray(String[]::new);
  }

  Shell.CommandResult run(String... command) {
    return runReading("", command);
  }

  Shell.CommandResult runReading(String input, String... command) {
    return Shell.run(input.getBytes(StandardCharsets.UTF_8), asking(command));
  }

  /** Runs a command whose output goes to a screen. */
  Shell.CommandResult runOnScreen(String... command) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    Terminal terminal =
        new Terminal(
            InputStream.nullInputStream(),
            new PrintStream(out, true, StandardCharsets.UTF_8),
            new PrintStream(err, true, StandardCharsets.UTF_8),
            true,
            true);
    int code = Millrace.run(terminal, asking(command));
    return new Shell.CommandResult(
        code, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
  }

  /** Runs a command whose words, also those to standard error, go to one stream. */
  int runWriting(OutputStream to, String... command) {
    PrintStream both = new PrintStream(to, true, StandardCharsets.UTF_8);
    return Millrace.run(new Terminal(InputStream.nullInputStream(), both, both), asking(command));
  }

  /** What a command prints that must be done. */
  String done(String... command) {
    Shell.CommandResult ran = run(command);
    assertThat(ran.code()).as(ran.err()).isZero();
    return ran.out();
  }

  /** The JSON that a command prints. */
  JsonNode shown(String... command) {
    return JSON.readTree(
        done(Stream.concat(Stream.of(command), Stream.of("--json")).toArray(String[]::new)));
  }

  /** Where a node stands. */
  String state(String id) {
    return shown("graph", "show", id).path("state").asString();
  }

  @Override
  public void close() {
    server.close();
  }
}
