package io.millrace.cli;

import io.millrace.cli.terminal.ExitCode;
import io.millrace.server.MillraceServer;
import io.millrace.server.config.Configuration;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/**
 * Does a little of everything, so that the class cache that is made of it holds what the commands
 * need at their start.
 */
@Command(
    name = "rehearse",
    hidden = true,
    description = "Does a little of everything, while the build makes a class cache of it.")
final class Rehearsal implements Callable<Integer> {
  @Parameters(paramLabel = "DIR", description = "A folder that does not exist yet.")
  private Path folder = Path.of("");

  @Override
  public Integer call() throws IOException {
    Configuration configuration =
        Configuration.read(
            MillraceServer.SECTIONS,
            null,
            Map.of("store.data", folder.toString(), "server.port", "0"));
    try (MillraceServer server = MillraceServer.start(configuration)) {
      URI address = URI.create("http://127.0.0.1:" + server.port());
      get(address.resolve("/health"));
      get(address.resolve("/metrics"));
      var quiet =
          new io.millrace.cli.terminal.Terminal(
              new ByteArrayInputStream(new byte[0]),
              new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8),
              System.err);
      for (String line : new String[] {"--version", "--help", "up --help"}) {
        int code = Millrace.run(quiet, line.split(" "));
        if (code != ExitCode.OK) {
          return code;
        }
      }
    }
    return ExitCode.OK;
  }

  private static void get(URI address) throws IOException {
    HttpURLConnection connection = (HttpURLConnection) address.toURL().openConnection();
    try (var in = connection.getInputStream()) {
      in.transferTo(OutputStream.nullOutputStream());
    }
  }
}
