package io.millrace.cli.remote;

import io.millrace.cli.terminal.UsageException;
import io.millrace.client.ClientOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** Options for the server that a command calls. */
public final class ServerAddress {
  private static final String DEFAULT = "http://127.0.0.1:8048";
  private static final String VARIABLE = "MILLRACE_SERVER";
  private static final Duration PATIENCE = Duration.ofSeconds(2);

  /** How long one of several servers may take until it leads. */
  private static final Duration TAKEOVER = Duration.ofSeconds(15);

  @Option(
      names = "--server",
      paramLabel = "URL",
      description =
          "The server to connect to, or several that share a store, separated by commas. Default:"
              + " the environment variable MILLRACE_SERVER, or "
              + DEFAULT)
  private @Nullable String server;

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description = "A file with the token for the server.")
  private @Nullable Path tokenFile;

  @Option(
      names = "--certificates",
      paramLabel = "FILE",
      description =
          "A file of certificates (PEM) to trust for https. Default: those that Java trusts")
  private @Nullable Path certificates;

  /**
   * Parses options.
   *
   * @throws CommandLine.ParameterException if there is an unknown option
   */
  public static ServerAddress read(List<String> arguments) {
    return CommandLine.populateCommand(new ServerAddress(), arguments.toArray(String[]::new));
  }

  /** Whether one of the options was given. */
  public boolean isGiven() {
    return server != null || tokenFile != null || certificates != null;
  }

  /** Whether an option or the environment gives the server or the token. */
  public boolean isConfigured() {
    String variable = System.getenv(VARIABLE);
    return server != null || tokenFile != null || (variable != null && !variable.isEmpty());
  }

  /**
   * The server to call.
   *
   * @throws UsageException if {@code --server} is empty: in a script that is a mistake, and the
   *     default could be the wrong server
   */
  public ServerLocation location() {
    if (server != null && server.isBlank()) {
      throw new UsageException("--server is empty");
    }
    String address = server != null ? server : System.getenv(VARIABLE);
    return new ServerLocation(
        address == null || address.isEmpty() ? DEFAULT : address, tokenFile, certificates);
  }

  /**
   * The options to connect to the server.
   *
   * @throws UsageException if the address is invalid or a file cannot be read
   */
  public ClientOptions client() {
    ServerLocation location = location();
    return location.client(location.address().contains(",") ? TAKEOVER : PATIENCE);
  }

  /**
   * The options to connect to another server with a token and the certificates of these options.
   *
   * @throws UsageException if the address is invalid or a file cannot be read
   */
  public ClientOptions client(String other, String token) {
    return new ServerLocation(other, null, certificates).client(PATIENCE).withToken(token);
  }
}
