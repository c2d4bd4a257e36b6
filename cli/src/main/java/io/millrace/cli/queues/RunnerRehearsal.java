package io.millrace.cli.queues;

import io.millrace.client.HttpTaskStore;
import io.millrace.processes.Watchdog;
import io.millrace.queues.NodeConfig;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Presence;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueSettings;
import io.millrace.queues.Queues;
import io.millrace.queues.Run;
import io.millrace.queues.Status;
import io.millrace.queues.node.Runners;
import io.millrace.queues.runner.LocalRunners;
import io.millrace.queues.runner.LocalRunnersOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.List;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;
import tools.jackson.databind.json.JsonMapper;

/** Runs one task in this process as a runner would. */
public final class RunnerRehearsal {
  /** Stands for the process that a node starts, while this one does its work. */
  private static final LocalRunnersOptions.Command STAND_IN =
      new LocalRunnersOptions.Command(List.of("sh", "-c", "exec sleep 60", "stand-in"), List.of());

  private RunnerRehearsal() {}

  /**
   * Plays node and runner.
   *
   * @param folder for the runner, with a short path
   * @param command runs a command line and gives its exit code
   * @return the exit code of the runner
   */
  public static int play(String server, Path folder, ToIntFunction<String> command) {
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
            .take("rehearsal", null, new Presence("one", "here", "2 mark", List.of()))
            .orElseThrow();
    Queue queue =
        queues.queues().create("rehearsal", "shell", QueueSettings.DEFAULTS.withThreads(1));
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
