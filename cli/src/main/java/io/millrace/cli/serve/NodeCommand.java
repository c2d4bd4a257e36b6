package io.millrace.cli.serve;

import io.millrace.cli.log.ProcessLog;
import io.millrace.cli.queues.MongoHome;
import io.millrace.cli.queues.RunnerCommand.RunnerLaunch;
import io.millrace.cli.remote.QueuesAddress;
import io.millrace.cli.remote.ServerAddress;
import io.millrace.cli.remote.ServerLocation;
import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.TerminalUser;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.ClientOptions;
import io.millrace.client.HttpBlobStore;
import io.millrace.client.HttpTaskStore;
import io.millrace.client.JsonCalls;
import io.millrace.client.RejectedException;
import io.millrace.client.UnreachableException;
import io.millrace.processes.ProcessException;
import io.millrace.queues.node.ExecutionNode;
import io.millrace.queues.node.NodeDriver;
import io.millrace.queues.node.Runners;
import io.millrace.store.DocumentKey;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import io.millrace.store.TaskStore;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Runs an execution node until it is told to stop. */
@Command(
    name = "node",
    description = {
      "Runs an execution node, which claims tasks of queues and runs them.",
      "It stops on SIGTERM or SIGINT. Running tasks continue, and the node finds them when it"
          + " starts again."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:stopped on request",
      "1:another process has taken its name, the server cannot be trusted or rejects the token, or"
          + " processes cannot be started here",
      "2:the command line is wrong",
      "3:out of memory; running tasks continue"
    })
public final class NodeCommand extends TerminalUser implements Callable<Integer> {
  /** Short, since the node itself retries. */
  private static final Duration RETRY = Duration.ofSeconds(1);

  @Mixin private ServerAddress server = new ServerAddress();

  @Mixin private QueuesAddress outside = new QueuesAddress();

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description =
          "A unique name. If another live node has it, this node waits. Default: the host name")
  private @Nullable String name;

  @Option(
      names = {"-d", "--data"},
      paramLabel = "DIR",
      description =
          "The folder for the state of its task runners; no other node may use it. Default:"
              + " ./millrace-nodes/SERVER/NAME")
  private @Nullable Path data;

  /** The exit code of the process; a stop by a signal is not a failure. */
  private volatile int exitCode = ExitCode.OK;

  /** One for each shard, if the store has shards. */
  private final List<NodeDriver> drivers = new CopyOnWriteArrayList<>();

  @Mixin private LocalNode.RunnerOptions workers = new LocalNode.RunnerOptions();

  @Override
  public Integer call() throws InterruptedException {
    if (outside.isGiven()) {
      if (server.isGiven()) {
        throw new UsageException("--queues needs no server");
      }
      return runOnMongo();
    }
    ServerLocation location = server.location();
    ClientOptions client = location.client(RETRY);
    String named = LocalNode.name("--name", name);
    workers.check();
    terminal()
        .warn(ServerLocation.warning(client.server(), client.token() == null ? null : "token"));
    ProcessLog log = ProcessLog.starting("node " + named);
    Path folder = data == null ? defaultFolder(client.server(), named) : data;
    LocalNode.NodeSettings settings = new LocalNode.NodeSettings(named, folder, location, workers);
    try (HttpTaskStore store = HttpTaskStore.open(client)) {
      // A folder or a machine on which nothing can run is reported before the server is asked.
      Runners _ = LocalNode.runners(settings, RunnerLaunch.command(location));
      Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(log), "stop"));
      FirstContact.await(store);
      int shards = shards(client);
      exitCode =
          shards == 0
              ? run(settings, () -> ready(settings))
              : runOfShards(settings, shards, () -> ready(settings));
      return exitCode;
    } catch (ProcessException | UncheckedIOException e) {
      exitCode = ExitCode.FAILURE;
      throw new CommandException(exitCode, String.valueOf(e.getMessage()), e);
    } catch (RuntimeException e) {
      exitCode = ExitCode.FAILURE;
      throw e;
    }
  }

  /** How many shards the store has; 0 if it has none. */
  private static int shards(ClientOptions client) {
    try (JsonCalls calls = JsonCalls.open(client)) {
      return calls.get("/shards").size();
    }
  }

  /** Runs the node until it ends. */
  private int run(LocalNode.NodeSettings settings, Runnable ready) {
    ClientOptions client = settings.server().client(RETRY);
    try (HttpTaskStore store = HttpTaskStore.open(client);
        HttpBlobStore blobs = HttpBlobStore.at(client)) {
      ExecutionNode node = LocalNode.create(settings, new LocalNode.Stores(store, blobs), ready);
      NodeDriver started = NodeDriver.start(node, store);
      drivers.add(started);
      started.onEnd().join();
      return node.hasLostName() ? ExitCode.FAILURE : ExitCode.OK;
    }
  }

  /** Runs a node for each shard, with the same name, until one of them ends. */
  private int runOfShards(LocalNode.NodeSettings settings, int shards, Runnable ready) {
    List<CompletableFuture<Integer>> ends =
        IntStream.range(0, shards)
            .mapToObj(shard -> {
              LocalNode.NodeSettings its =
                  new LocalNode.NodeSettings(
                      settings.name(),
                      LocalNode.folder(settings.data(), shard),
                      settings.server().below("/shards/" + shard),
                      settings.workers());
              CompletableFuture<Integer> end = new CompletableFuture<>();
              var _ =
                  Thread.ofPlatform()
                      .daemon()
                      .name("node-" + shard)
                      .start(() -> {
                        try {
                          end.complete(run(its, shard == 0 ? ready : () -> {}));
                        } catch (RuntimeException | Error e) {
                          end.completeExceptionally(e);
                        }
                      });
              return end;
            })
            .toList();
    try {
      return (int) CompletableFuture.anyOf(ends.toArray(CompletableFuture[]::new)).join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : e;
    } finally {
      drivers.forEach(NodeDriver::close);
    }
  }

  /** Runs a node of queues in MongoDB, which needs no server. */
  private int runOnMongo() {
    URI database = URI.create(MongoHome.address(outside).url().split(",", 2)[0]);
    String named = LocalNode.name("--name", name);
    workers.check();
    ProcessLog log = ProcessLog.starting("node " + named);
    LocalNode.NodeSettings settings =
        new LocalNode.NodeSettings(
            named,
            data == null ? defaultFolder(database, named) : data,
            new ServerLocation(MongoHome.address(outside).url(), null, null),
            workers);
    try {
      Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(log), "stop"));
      MongoNode started = MongoNode.start(settings, outside, () -> ready(settings));
      drivers.add(started.driver());
      started.driver().onEnd().join();
      exitCode = started.node().hasLostName() ? ExitCode.FAILURE : ExitCode.OK;
      return exitCode;
    } catch (ProcessException | UncheckedIOException e) {
      exitCode = ExitCode.FAILURE;
      throw new CommandException(exitCode, String.valueOf(e.getMessage()), e);
    }
  }

  /** A folder for this server and node; different names give different folders. */
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

  private void ready(LocalNode.NodeSettings settings) {
    out()
        .printf(
            "Millrace node %s serves %s (data in %s)%n",
            settings.name(), settings.server().address(), settings.data());
    out().flush();
  }

  /** The shutdown hook. */
  private void stop(ProcessLog log) {
    log.stopping();
    drivers.forEach(NodeDriver::close);
    log.stopped(exitCode);
    out().flush();
    terminal().err().flush();
    Runtime.getRuntime().halt(exitCode);
  }

  /** The first request to a server. Waits while the server is unreachable. */
  private static final class FirstContact {
    private static final Logger LOG = LoggerFactory.getLogger(FirstContact.class);
    private static final long PAUSE_MILLIS = 500;

    /** Any document within the reach of a node: only whether there is a response matters. */
    private static final DocumentKey ANYTHING = new DocumentKey("queues.nodes", "hello");

    private FirstContact() {}

    /**
     * Waits until the server answers.
     *
     * @throws UnreachableException if the certificate of the server is not trusted
     * @throws RejectedException if it rejects the token or the request, or is not a task store
     */
    static void await(TaskStore store) throws InterruptedException {
      boolean said = false;
      while (true) {
        try {
          store.document(ANYTHING);
          return;
        } catch (UnreachableException e) {
          if (e.isUntrusted()) {
            throw e;
          }
          said = say(said, e);
        } catch (StoreClosedException e) {
          said = say(said, e);
        }
        Thread.sleep(PAUSE_MILLIS);
      }
    }

    /** Logs the reason once. */
    private static boolean say(boolean said, StoreException why) {
      if (!said) {
        LOG.warn("waiting for the server: {}", why.getMessage());
      }
      return true;
    }
  }
}
