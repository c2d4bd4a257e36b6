package io.millrace.cli;

import io.millrace.cli.queues.RunnerRehearsal;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.server.MillraceServer;
import io.millrace.server.config.Configuration;
import java.io.ByteArrayInputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/**
 * Does a little of what a process will do, so that the class cache made of it holds what such a
 * process needs at its start.
 */
@Command(
    name = "rehearse",
    hidden = true,
    description = "Does a little of everything, while the build makes a class cache of it.")
final class Rehearsal implements Callable<Integer> {
  /** What is rehearsed. */
  enum Kind {
    /** Short commands. */
    COMMAND,
    /** A server. */
    SERVER,
    /** A task runner, beside a server. */
    RUNNER
  }

  @Parameters(index = "0", description = "command, server or runner.")
  private Kind kind = Kind.COMMAND;

  @Parameters(index = "1", paramLabel = "DIR", description = "A folder that does not exist yet.")
  private Path folder = Path.of("");

  @Override
  public Integer call() {
    return switch (kind) {
      case COMMAND ->
          play("--help", "store --help", "store add g x --data " + folder)
              + play("store groups --json --data " + folder, "store list g --data " + folder);
      case SERVER -> serve(this::ask);
      case RUNNER -> serve(this::runTask);
    };
  }

  /** What is done with a server. */
  private interface Deed {
    int with(String server);
  }

  private int serve(Deed deed) {
    Configuration configuration =
        Configuration.read(
            MillraceServer.SECTIONS,
            null,
            Map.of("store.data", folder.toString(), "server.port", "0"));
    try (MillraceServer server = MillraceServer.start(configuration)) {
      return deed.with("http://127.0.0.1:" + server.port());
    }
  }

  private int ask(String server) {
    String target = " --server " + server;
    return play(
            "up --help",
            "store add g x" + target,
            "store claim g" + target,
            "store groups" + target,
            "store list g --all" + target,
            "store delete ~1" + target)
        + LoadRehearsal.play(URI.create(server))
        + GraphRehearsal.play(URI.create(server));
  }

  private int runTask(String server) {
    return RunnerRehearsal.play(server, folder.resolve("runners"), Rehearsal::play);
  }

  /** Runs commands without a sound; the sum of their exit codes. */
  private static int play(String... lines) {
    Terminal quiet =
        new Terminal(
            new ByteArrayInputStream(new byte[0]),
            new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8),
            System.err);
    int sum = ExitCode.OK;
    for (String line : lines) {
      sum += Millrace.run(quiet, line.split(" "));
    }
    return sum;
  }
}
