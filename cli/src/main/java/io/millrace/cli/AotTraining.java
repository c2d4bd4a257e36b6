package io.millrace.cli;

import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.client.JsonCalls;
import io.millrace.processes.Watchdog;
import io.millrace.queues.NodeConfig;
import io.millrace.queues.NodeIdentity;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueSettings;
import io.millrace.queues.Queues;
import io.millrace.queues.Run;
import io.millrace.queues.Status;
import io.millrace.queues.node.Runners;
import io.millrace.queues.runner.LocalRunners;
import io.millrace.queues.runner.LocalRunnersOptions;
import io.millrace.server.MillraceServer;
import io.millrace.server.config.Configuration;
import io.millrace.store.Claim;
import io.millrace.store.Owner;
import io.millrace.store.Task;
import io.millrace.store.Transaction;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Runs typical work of a process while the build records an AOT cache (JEP 483, 514), so that such
 * a process starts faster. It belongs to the distribution because a cache is only used with the
 * class path with which it was recorded.
 */
@Command(
    name = "aot-training",
    hidden = true,
    description = "Runs typical work while the build records an AOT cache.")
final class AotTraining implements Callable<Integer> {
  /** What is trained. */
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
          run("--help", "store --help", "store add g x --data " + folder)
              + run("store groups --json --data " + folder, "store list g --data " + folder);
      case SERVER -> serve(this::ask);
      case RUNNER -> serve(this::runTask);
    };
  }

  /** Starts a server and runs some work on it, given the address. */
  private int serve(ToIntFunction<String> work) {
    Configuration configuration =
        Configuration.read(
            MillraceServer.SECTIONS,
            null,
            Map.of("store.data", folder.toString(), "server.port", "0"));
    try (MillraceServer server = MillraceServer.start(configuration)) {
      return work.applyAsInt("http://127.0.0.1:" + server.port());
    }
  }

  private int ask(String server) {
    String target = " --server " + server;
    return run(
            "up --help",
            "store add g x" + target,
            "store claim g" + target,
            "store groups" + target,
            "store list g --all" + target,
            "store delete ~1" + target)
        + StoreLoad.run(URI.create(server))
        + GraphLoad.run(URI.create(server));
  }

  private int runTask(String server) {
    return RunnerLoad.run(server, folder.resolve("runners"), AotTraining::run);
  }

  /** Runs commands without output; gives the sum of their exit codes. */
  private static int run(String... lines) {
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

  /**
   * Puts load on a server for a while, so that the cache made of it knows which code is hot and how
   * it is used: a server that starts with that is compiled, and fast, some seconds earlier.
   */
  private static final class StoreLoad {
    private static final int CLIENTS = 16;
    private static final int LIFECYCLES = 1_000;

    /** A slow disk must not make the build wait. */
    private static final Duration LONGEST = Duration.ofSeconds(10);

    private static final Duration LEASE = Duration.ofMinutes(1);

    private StoreLoad() {}

    /** Runs lifecycles of tasks against a server; the exit code. */
    static int run(URI server) {
      long end = System.nanoTime() + LONGEST.toNanos();
      try (HttpTaskStore store = HttpTaskStore.open(server)) {
        CompletableFuture<?>[] chains =
            IntStream.rangeClosed(1, CLIENTS)
                .mapToObj(client -> chain(store, client, end))
                .toArray(CompletableFuture[]::new);
        CompletableFuture.allOf(chains).join();
      }
      return ExitCode.OK;
    }

    private static CompletableFuture<Void> chain(HttpTaskStore store, int client, long end) {
      CompletableFuture<Void> done = new CompletableFuture<>();
      Thread.ofVirtual()
          .start(() -> {
            try {
              Owner owner = Owner.client(client);
              for (int i = 0; i < LIFECYCLES && System.nanoTime() - end < 0; i++) {
                live(store, owner);
              }
              done.complete(null);
            } catch (RuntimeException | Error e) {
              done.completeExceptionally(e);
            }
          });
      return done;
    }

    private static void live(HttpTaskStore store, Owner owner) {
      store.commit(Transaction.by(owner).add("training", "a task of some bytes").build()).done();
      for (Task task : store.claim(Claim.of(owner, "training", LEASE)).done().tasks()) {
        store.commit(Transaction.by(owner).delete(task.ref()).build()).done();
      }
    }
  }

  /** Lets a server run a small graph of commands, so that those of a fresh one start sooner. */
  private static final class GraphLoad {
    private static final int COMMANDS = 100;

    /** A slow machine must not make the build wait. */
    private static final Duration LONGEST = Duration.ofSeconds(10);

    private GraphLoad() {}

    /** Runs it and reads it; the exit code. */
    static int run(URI server) {
      ClientOptions options = ClientOptions.at(server).withAnswerTimeout(LONGEST.multipliedBy(2));
      try (JsonCalls calls = JsonCalls.open(options)) {
        String group = calls.post("/v1/nodes", nodes()).path(0).path("id").asString();
        // On a slow machine, what has run until then must do.
        calls.get(
            "/v1/scheduler/wait?until=settled&id=" + group + "&timeout=" + LONGEST.toSeconds());
        calls.get("/v1/nodes?start=");
      }
      return ExitCode.OK;
    }

    private static ArrayNode nodes() {
      ArrayNode nodes = JsonNodeFactory.instance.arrayNode();
      nodes.addObject().putObject("metadata").put("type", "group").put("local", "all");
      for (int i = 0; i < COMMANDS; i++) {
        ObjectNode node = nodes.addObject();
        node.putObject("metadata").put("type", "shell command").put("parent", "local:all");
        node.putObject("data").put("command", i % 2 == 0 ? "exec true" : "echo " + i);
      }
      return nodes;
    }
  }

  /** Runs one task in this process as a runner would. */
  private static final class RunnerLoad {
    /** Stands for the process that a node starts, while this one does its work. */
    private static final LocalRunnersOptions.Command STAND_IN =
        new LocalRunnersOptions.Command(
            List.of("sh", "-c", "exec sleep 60", "stand-in"), List.of());

    private RunnerLoad() {}

    /**
     * Does the work of a node and of its task runner.
     *
     * @param folder for the runner, with a short path
     * @param command runs a command line and gives its exit code
     * @return the exit code of the runner
     */
    static int run(String server, Path folder, ToIntFunction<String> command) {
      try (HttpTaskStore store = HttpTaskStore.open(URI.create(server));
          LocalRunners runners = LocalRunners.create(LocalRunnersOptions.in(folder, STAND_IN))) {
        Queues queues = Queues.in(store, InstantSource.system(), new SecureRandom());
        runners.recover(List.of(), new Indifferent());
        // As one that stays for more tasks does.
        boolean _ = Watchdog.canStartDirectly();
        runners.begin(claim(queues), "shell", NodeConfig.DEFAULTS);
        return command.applyAsInt(
            "runner --server %s --socket %s --folder %s"
                .formatted(server, folder.resolve("socket"), folderOfRunner(folder)));
      }
    }

    private static Run claim(Queues queues) {
      NodeRecord node =
          queues
              .nodes()
              .take("training", null, new NodeIdentity("one", "here", "2 mark", List.of()))
              .orElseThrow();
      Queue queue =
          queues.queues().create("training", "shell", QueueSettings.DEFAULTS.withThreads(1));
      var params = new JsonMapper().createObjectNode().put("command", "echo done");
      queues.tasks().submit(queue, List.of(params), Status.QUEUED);
      return queues.runs().claim(node, queue, 1, LocalRunnersOptions.LEASE).getFirst();
    }

    private static Path folderOfRunner(Path folder) {
      try (Stream<Path> entries = Files.list(folder)) {
        return entries.filter(Files::isDirectory).findFirst().orElseThrow();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** There is one task, and the runner's end tells enough of it. */
    private static final class Indifferent implements Runners.Listener {
      @Override
      public void ended(ObjectId task) {}

      @Override
      public void lost(ObjectId task, String reason) {}
    }
  }
}
