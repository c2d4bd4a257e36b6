package io.millrace.cli.queues;

import io.millrace.blobs.BlobStore;
import io.millrace.cli.remote.QueuesAddress;
import io.millrace.cli.remote.ServerAddress;
import io.millrace.cli.remote.ServerLocation;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.client.ClientOptions;
import io.millrace.client.HttpBlobStore;
import io.millrace.client.HttpTaskStore;
import io.millrace.queues.runner.Connector;
import io.millrace.queues.runner.LocalRunners;
import io.millrace.queues.runner.RunnerProgram;
import io.millrace.store.TaskStore;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The process of a task runner, which a node starts. */
@Command(
    name = "runner",
    hidden = true,
    description = "A task runner, started by an execution node.")
public final class RunnerCommand implements Callable<Integer> {
  @Mixin private ServerAddress server = new ServerAddress();

  @Mixin private QueuesAddress outside = new QueuesAddress();

  @Option(
      names = "--socket",
      paramLabel = "PATH",
      required = true,
      description = "The socket of the node.")
  private Path socket = Path.of("");

  @Option(
      names = "--folder",
      paramLabel = "DIR",
      required = true,
      description = "The folder of this runner.")
  private Path folder = Path.of("");

  @Override
  public Integer call() throws InterruptedException {
    if (outside.isGiven()) {
      MongoHome.run(outside, socket, folder);
      return ExitCode.OK;
    }
    RunnerProgram.run(
        socket,
        folder,
        server.location().arguments(),
        arguments -> new RunnerServer(ServerAddress.read(arguments).location()));
    return ExitCode.OK;
  }

  /** The connection of a task runner to the server. Thread-safe. */
  private static final class RunnerServer implements Connector.Connection {
    /** Short, since the runner itself retries for as long as needed. */
    private static final Duration RETRY = Duration.ofSeconds(1);

    private final ClientOptions options;
    private final HttpTaskStore store;
    private @Nullable HttpBlobStore blobs;

    /** Connects to a server. */
    RunnerServer(ServerLocation location) {
      options = location.client(RETRY);
      store = HttpTaskStore.open(options);
    }

    @Override
    public TaskStore store() {
      return store;
    }

    /** Created on first use: short output does not need it. */
    @Override
    public synchronized BlobStore blobs() {
      HttpBlobStore made = blobs;
      if (made == null) {
        made = HttpBlobStore.at(options);
        blobs = made;
      }
      return made;
    }

    @Override
    public synchronized void close() {
      store.close();
      if (blobs != null) {
        blobs.close();
      }
    }
  }

  /** The command that a node starts task runners with: this program, with JVM flags for runners. */
  public static final class RunnerLaunch {
    /** The system property with the JVM flags, one per line; the launcher sets it. */
    private static final String FLAGS = "millrace.runner";

    /** The most important flags, used without the launcher. */
    private static final String USUAL =
        """
        -XX:+UseSerialGC
        -XX:TieredStopAtLevel=1
        -XX:CompileThresholdScaling=0.1
        -Xmx128m
        --enable-native-access=ALL-UNNAMED
        """;

    private RunnerLaunch() {}

    /**
     * The command of a runner.
     *
     * @param server the server that the runner connects to
     */
    public static LocalRunners.Options.Command command(ServerLocation server) {
      return command(server.arguments(), Map.of());
    }

    /**
     * The same.
     *
     * @param home the options that say where the queues are
     * @param environment the variables that say so to plugins
     */
    public static LocalRunners.Options.Command command(
        List<String> home, Map<String, String> environment) {
      List<String> program = new ArrayList<>();
      program.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      System.getProperty(FLAGS, USUAL)
          .lines()
          .filter(flag -> !flag.isBlank())
          .forEach(program::add);
      program.addAll(List.of("-cp", System.getProperty("java.class.path")));
      program.addAll(List.of("io.millrace.cli.Millrace", "runner"));
      return new LocalRunners.Options.Command(program, home, environment);
    }
  }
}
