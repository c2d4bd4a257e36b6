package io.millrace.cli.queues;

import io.millrace.blobs.BlobStore;
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
    RunnerProgram.run(
        socket,
        folder,
        server.location().arguments(),
        arguments -> new RunnerServer(ServerAddress.read(arguments).location()));
    return ExitCode.OK;
  }

  /** A server as a task runner speaks to it. Safe for use by any number of threads. */
  private static final class RunnerServer implements Connector.Connection {
    /** Short, since a runner tries again by itself as long as it must. */
    private static final Duration RETRY = Duration.ofSeconds(1);

    private final ClientOptions options;
    private final HttpTaskStore store;
    private @Nullable HttpBlobStore blobs;

    /** The server there. */
    RunnerServer(ServerLocation location) {
      options = location.client(RETRY);
      store = HttpTaskStore.open(options);
    }

    @Override
    public TaskStore store() {
      return store;
    }

    /** Made when it is first asked for: short output needs none. */
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

  /** How a node of this program starts task runners: this program, under flags of their own. */
  public static final class RunnerLaunch {
    /** The flags, one a line, from the launcher. */
    private static final String FLAGS = "millrace.runner";

    /** Without a launcher, the most important ones. */
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
     * @param server the server that it asks
     */
    public static LocalRunners.Options.Command command(ServerLocation server) {
      List<String> program = new ArrayList<>();
      program.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      System.getProperty(FLAGS, USUAL)
          .lines()
          .filter(flag -> !flag.isBlank())
          .forEach(program::add);
      program.addAll(List.of("-cp", System.getProperty("java.class.path")));
      program.addAll(List.of("io.millrace.cli.Millrace", "runner"));
      return new LocalRunners.Options.Command(program, server.arguments());
    }
  }
}
