package io.millrace.cli.serve;

import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.queues.node.ExecutionNode;
import io.millrace.queues.node.LocalMachine;
import io.millrace.queues.node.NodeDriver;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Runs an execution node until it is told to stop. */
@Command(
    name = "node",
    description = {
      "Runs an execution node, which claims tasks of queues and runs them.",
      "It stops on SIGTERM or SIGINT; tasks that run go on, and its next start finds them again."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:it was told to stop, and has stopped",
      "1:another process has taken its name, or processes cannot be started here",
      "2:the command line is wrong"
    })
public final class NodeCommand implements Callable<Integer> {
  private static final String DEFAULT_SERVER = "http://127.0.0.1:8048";

  /** A node tries again by itself. */
  private static final Duration RETRY = Duration.ofSeconds(1);

  private final Terminal terminal;

  @Option(
      names = "--server",
      paramLabel = "URL",
      description = "The server. Default: the environment's MILLRACE_SERVER, or " + DEFAULT_SERVER)
  private @Nullable String server;

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description =
          "Its unique name; while another live node has it, this one waits. Default: the host name")
  private @Nullable String name;

  @Option(
      names = {"-d", "--data"},
      paramLabel = "DIR",
      description =
          "The folder of what it knows of its runners, for it alone."
              + " Default: ./millrace-nodes/SERVER/NAME")
  private @Nullable Path data;

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description = "A file with the token that the server wants.")
  private @Nullable Path tokenFile;

  @Mixin private WorkerOptions workers = new WorkerOptions();

  /** On this terminal. */
  public NodeCommand(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public Integer call() {
    String address = address();
    String named = name == null ? LocalMachine.hostName() : name;
    if (named.isEmpty()) {
      throw new UsageException("--name is empty");
    }
    Path folder = data == null ? defaultFolder(URI.create(address), named) : data;
    LocalNode.Site site = new LocalNode.Site(named, folder, address, tokenFile, workers);
    try (HttpTaskStore store = HttpTaskStore.open(client(address))) {
      ExecutionNode node = LocalNode.create(site, store, () -> ready(site));
      NodeDriver driver = LocalNode.drive(node, store);
      Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(driver), "stop"));
      driver.onEnd().join();
      return node.hasLostName() ? ExitCode.FAILURE : ExitCode.OK;
    }
  }

  private String address() {
    return Optional.ofNullable(server)
        .or(() -> Optional.ofNullable(System.getenv("MILLRACE_SERVER")))
        .filter(given -> !given.isEmpty())
        .orElse(DEFAULT_SERVER);
  }

  private ClientOptions client(String address) {
    try {
      return ClientOptions.at(URI.create(address))
          .withRetryFor(RETRY)
          .withToken(tokenFile == null ? null : token(tokenFile));
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

  /** A folder for this server and node: names become file names that stay apart. */
  private static Path defaultFolder(URI server, String name) {
    String authority = server.getAuthority() == null ? "server" : server.getAuthority();
    return Path.of("millrace-nodes", fileName(authority), fileName(name));
  }

  static String fileName(String text) {
    StringBuilder file = new StringBuilder();
    for (byte each : text.getBytes(StandardCharsets.UTF_8)) {
      char c = (char) (each & 0xff);
      boolean plain = c < 128 && (Character.isLetterOrDigit(c) || c == '-' || c == '_');
      boolean dot = c == '.' && !file.isEmpty();
      file.append(plain || dot ? String.valueOf(c) : "%%%02x".formatted((int) c));
    }
    return file.toString();
  }

  private void ready(LocalNode.Site site) {
    terminal
        .out()
        .printf(
            "Millrace node %s serves %s (data in %s)%n", site.name(), site.server(), site.data());
    terminal.out().flush();
  }

  /** Runs while the process ends; a stop that was asked for is no failure. */
  private void stop(NodeDriver driver) {
    driver.close();
    terminal.out().flush();
    terminal.err().flush();
    Runtime.getRuntime().halt(ExitCode.OK);
  }
}
