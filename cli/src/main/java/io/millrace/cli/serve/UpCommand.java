package io.millrace.cli.serve;

import io.millrace.cli.log.Logs;
import io.millrace.cli.log.ProcessLog;
import io.millrace.cli.queues.MongoHome;
import io.millrace.cli.remote.QueuesAddress;
import io.millrace.cli.remote.SecretFile;
import io.millrace.cli.remote.ServerLocation;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.TerminalUser;
import io.millrace.processes.ProcessException;
import io.millrace.queues.node.ExecutionNode;
import io.millrace.queues.node.NodeDriver;
import io.millrace.server.HeapGoal;
import io.millrace.server.LogSettings;
import io.millrace.server.LogSettings.Format;
import io.millrace.server.MillraceServer;
import io.millrace.server.ServerSettings;
import io.millrace.server.config.Configuration;
import io.millrace.server.queues.CommandQueues;
import io.millrace.server.store.StoreSettings;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Starts a server and serves until it is told to stop. */
@Command(
    name = "up",
    description = "Starts a server. It stops on SIGTERM or SIGINT.",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:stopped on request",
      "1:failed: for example the folder is in use, the port is taken, or the disk fails",
      "2:the command line or the configuration is wrong",
      "3:out of memory; nothing that was acknowledged is lost",
      "5:files in the folder are damaged",
      "74:the store has stopped because a write or a sync failed: start the server again"
    })
public final class UpCommand extends TerminalUser implements Callable<Integer> {
  /** How long the server may take to stop after a failure. */
  private static final Duration LONGEST_STOP = Duration.ofSeconds(10);

  @Mixin private ServerOptions options = new ServerOptions();

  @Option(
      names = "--no-node",
      description =
          "Does not run an execution node in the server; tasks of queues wait for other nodes.")
  private boolean noNode;

  @Option(
      names = "--node-name",
      paramLabel = "NAME",
      description = "The name of the execution node in the server. Default: the host name")
  private @Nullable String nodeName;

  @Mixin private QueuesAddress outside = new QueuesAddress();

  @Mixin private LocalNode.RunnerOptions workers = new LocalNode.RunnerOptions();

  @Option(
      names = "--stop-with",
      paramLabel = "PID",
      hidden = true,
      description = "Stops when this process has ended.")
  private @Nullable Long companion;

  /** The exit code of the process; a stop by a signal is not a failure. */
  private volatile int exitCode = ExitCode.OK;

  @Override
  public Integer call() throws InterruptedException, ExecutionException {
    Configuration configuration = options.read();
    // Mistakes in the command line are reported before anything starts.
    String name = LocalNode.name("--node-name", nodeName);
    workers.check();
    CommandQueues served = outside.isGiven() ? MongoHome.commands(outside) : null;
    configuration.warnings().forEach(terminal()::warn);
    Format format = configuration.get(LogSettings.SECTION).format();
    if (format != null) {
      Logs.use(format);
    }
    ProcessLog log = ProcessLog.starting("server");
    CompletableFuture<Integer> end = new CompletableFuture<>();
    LocalNodeCompanion node = new LocalNodeCompanion(name, configuration, end);
    MillraceServer server = MillraceServer.start(configuration, served, node);
    HeapGoal.keep();
    Thread hook = new Thread(() -> stop(server, log), "stop");
    Runtime.getRuntime().addShutdownHook(hook);
    // These run on threads that must not block.
    var _ = server.stopped().thenRun(() -> end.complete(ExitCode.STOPPED));
    if (companion != null) {
      ProcessHandle.of(companion)
          .ifPresentOrElse(
              process -> {
                var _ = process.onExit().thenRun(() -> end.complete(ExitCode.OK));
              },
              () -> end.complete(ExitCode.OK));
    }
    var _ =
        server
            .follows()
            .thenRunAsync(
                () -> say("Millrace is a standby at " + place(configuration, server.port())));
    var _ =
        server
            .leads()
            .whenComplete((_, failure) -> {
              if (failure == null) {
                greet(configuration, server);
              } else {
                end.completeExceptionally(failure);
              }
            });
    try {
      exitCode = end.get();
      return exitCode;
    } catch (ExecutionException e) {
      // It has never led, so there is nothing to stop in order.
      Runtime.getRuntime().removeShutdownHook(hook);
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw e;
    }
  }

  private void greet(Configuration configuration, MillraceServer server) {
    say("Millrace is ready at " + place(configuration, server.port()));
    ServerSettings settings = configuration.get(ServerSettings.SECTION);
    if (MillraceServer.requiresCredentials(configuration) && settings.tokenFile() == null) {
      server.principals().bootstrapKey().ifPresent(this::showBootstrap);
    }
  }

  private void say(String line) {
    out().println(line);
    out().flush();
  }

  /**
   * The execution nodes in the server: one for each store or shard that it leads, while it does.
   */
  private final class LocalNodeCompanion implements MillraceServer.Companion {
    private final String name;
    private final Configuration configuration;
    private final CompletableFuture<Integer> end;
    private final Map<Integer, NodeDriver> running = new HashMap<>();

    LocalNodeCompanion(String name, Configuration configuration, CompletableFuture<Integer> end) {
      this.name = name;
      this.configuration = configuration;
      this.end = end;
    }

    @Override
    public synchronized void start(MillraceServer server, MillraceServer.Led led) {
      boolean isOutside = outside.isGiven() && led.shard() > 0;
      NodeDriver started = noNode || isOutside ? null : startNode(name, configuration, server, led);
      if (started != null) {
        running.put(led.shard(), started);
        var _ =
            started
                .onEnd()
                .whenComplete((_, failure) -> {
                  if (failure != null) {
                    end.complete(ExitCode.FAILURE);
                  }
                });
      }
    }

    @Override
    public void stop(int shard) {
      NodeDriver ended;
      synchronized (this) {
        ended = running.remove(shard);
      }
      if (ended != null) {
        ended.close();
      }
    }
  }

  private void showBootstrap(String key) {
    out()
        .println(
            "No administrator can sign in yet. Until one can, this key does everything, for at");
    out().println("most 24 hours and until this server stops:");
    out().println("  " + key);
    out().println("Write it to a file and create the first administrator with it:");
    out().println("  millrace access create NAME --role admin --token-file FILE");
    out().flush();
  }

  /** Starts the execution node; null if processes cannot be started on this machine. */
  private @Nullable NodeDriver startNode(
      String name, Configuration configuration, MillraceServer server, MillraceServer.Led led) {
    ServerSettings settings = configuration.get(ServerSettings.SECTION);
    Path data = configuration.get(StoreSettings.SECTION).options().folder();
    Path folder = LocalNode.folder(data, led.shard());
    LocalNode.NodeSettings nodeSettings =
        new LocalNode.NodeSettings(
            name,
            folder.resolve("nodes").resolve(NodeCommand.fileName(name)),
            new ServerLocation(
                url(reachable(settings.address()), server.port()) + led.path(),
                tokenFile(configuration, data, server),
                null),
            workers);
    try {
      if (outside.isGiven()) {
        return MongoNode.start(nodeSettings, outside, () -> {}).driver();
      }
      ExecutionNode node =
          LocalNode.create(nodeSettings, new LocalNode.Stores(led.store(), led.blobs()), () -> {});
      return NodeDriver.start(node, led.store());
    } catch (ProcessException | UncheckedIOException e) {
      terminal().say("no execution node runs here: " + e.getMessage());
      return null;
    }
  }

  /** The file with the token of the runners on this machine; null for none. */
  private static @Nullable Path tokenFile(
      Configuration configuration, Path folder, MillraceServer server) {
    Path given = configuration.get(ServerSettings.SECTION).tokenFile();
    if (given != null || !MillraceServer.requiresCredentials(configuration)) {
      return given;
    }
    Path file = folder.resolve("local-key");
    SecretFile.write(file, server.localKey());
    return file;
  }

  /** The address at which runners on this machine reach the server. */
  private static String reachable(String address) {
    return switch (address) {
      case "0.0.0.0" -> "127.0.0.1";
      case "::", "0:0:0:0:0:0:0:0" -> "::1";
      default -> address;
    };
  }

  private static String url(String host, int port) {
    return "http://%s:%d".formatted(host.contains(":") ? "[" + host + "]" : host, port);
  }

  /** Where it listens, and where its data is. */
  private static String place(Configuration configuration, int port) {
    ServerSettings settings = configuration.get(ServerSettings.SECTION);
    String url = url(settings.address(), port);
    StoreSettings store = configuration.get(StoreSettings.SECTION);
    return "%s (%s, %s journal)"
        .formatted(
            settings.tls() == null ? url : url.replaceFirst("http", "https"),
            store.place(),
            store.options().journaling().name().toLowerCase(Locale.ROOT));
  }

  /** The shutdown hook. */
  private void stop(MillraceServer server, ProcessLog log) {
    log.stopping();
    int code = exitCode;
    if (code != ExitCode.OK) {
      explain(code, server);
      Thread.ofPlatform().daemon().name("halt").start(this::haltLater);
    }
    try {
      server.close();
    } catch (RuntimeException e) {
      terminal().say("the server did not stop cleanly: " + e.getMessage());
      code = code == ExitCode.OK ? ExitCode.FAILURE : code;
    }
    log.stopped(code);
    halt(code);
  }

  private void explain(int code, MillraceServer server) {
    String why =
        code == ExitCode.STOPPED
            ? "the store has stopped: "
                + server.stopped().resultNow().getMessage()
                + "; nothing that was acknowledged is lost; start the server again"
            : "the execution node in the server has failed; see the log";
    terminal().say(why);
  }

  /** Ends the process if the server does not stop in time after a failure. */
  private void haltLater() {
    LockSupport.parkNanos(LONGEST_STOP.toNanos());
    terminal().say("the server did not stop in time; ending the process");
    halt(exitCode);
  }

  private void halt(int code) {
    out().flush();
    terminal().err().flush();
    Runtime.getRuntime().halt(code);
  }
}
