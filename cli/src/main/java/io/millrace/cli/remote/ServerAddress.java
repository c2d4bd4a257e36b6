package io.millrace.cli.remote;

import io.millrace.cli.terminal.UsageException;
import io.millrace.client.ClientOptions;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which server a command asks, as options. */
public final class ServerAddress {
  private static final String DEFAULT = "http://127.0.0.1:8048";
  private static final Duration PATIENCE = Duration.ofSeconds(2);

  @Option(
      names = "--server",
      paramLabel = "URL",
      description = "The server to ask. Default: the environment's MILLRACE_SERVER, or " + DEFAULT)
  private @Nullable String server;

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description = "A file with the token that the server wants.")
  private @Nullable Path tokenFile;

  @Option(
      names = "--certificates",
      paramLabel = "FILE",
      description =
          "Certificates (PEM) by which an https server proves itself. Default: those that Java"
              + " trusts")
  private @Nullable Path certificates;

  /** Whether one of the options was given. */
  public boolean isGiven() {
    return server != null || tokenFile != null || certificates != null;
  }

  /**
   * How to reach the server.
   *
   * @throws UsageException when the address is none, or a file cannot be read
   */
  public ClientOptions client() {
    String address = server != null ? server : System.getenv("MILLRACE_SERVER");
    try {
      ClientOptions options =
          ClientOptions.at(URI.create(address == null || address.isEmpty() ? DEFAULT : address))
              .withRetryFor(PATIENCE)
              .withCertificates(certificates)
              .withToken(tokenFile == null ? null : token(tokenFile));
      // Asked for here, so that a wrong file is told as a wrong option.
      var _ = options.tls();
      return options;
    } catch (IllegalArgumentException e) {
      throw new UsageException(String.valueOf(e.getMessage()), e);
    }
  }

  private static String token(Path file) {
    try {
      return Files.readString(file, StandardCharsets.ISO_8859_1).strip();
    } catch (IOException e) {
      throw new UsageException("cannot read the token file " + file + ": " + e, e);
    }
  }
}
