package io.millrace.queues.runner;

import io.millrace.blobs.FaultyBlobs;
import io.millrace.blobs.FileBlobStore;
import io.millrace.processes.ProcessLauncher;
import io.millrace.processes.Watchdog;
import io.millrace.queues.NodeConfig.OutputLimits;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output;
import io.millrace.queues.Output.OutputFile;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueueTask.Scheduled;
import io.millrace.queues.Run;
import io.millrace.queues.Status;
import io.millrace.queues.plugin.PluginFolder;
import io.millrace.queues.plugin.Plugins;
import io.millrace.queues.registry.Queues;
import io.millrace.queues.runner.RunnerContext.Schedule;
import io.millrace.queues.runner.TaskFolder.WorkFolder;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions;
import io.millrace.store.StoreOptions.Journaling;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.work.policy.Policy;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** A store, the name of a node and the context of a runner, to run tasks in. */
final class Bench implements AutoCloseable {
  final AwayStore store;
  final FaultyBlobs blobs;
  final Queues queues;
  final List<String> lastWords = new CopyOnWriteArrayList<>();
  final Path plugins;
  private final RunnerContext shop;
  private final NodeRecord node;
  private final Path root;
  OutputLimits limits = OutputLimits.DEFAULTS;
  Duration lease = Duration.ofMinutes(5);

  Bench(Path root) throws IOException {
    this.root = root;
    this.plugins = Files.createDirectories(root.resolve("plugins"));
    store =
        new AwayStore(
            TaskStore.open(
                StoreOptions.in(root.resolve("store")).withJournaling(Journaling.OPPORTUNISTIC)));
    blobs = new FaultyBlobs(FileBlobStore.open(root.resolve("blobs")));
    queues = Queues.in(store.store(), InstantSource.system(), new Random(1));
    node =
        queues
            .nodes()
            .take("bench", null, new NodeIdentity("instance", "host", "2 mark", List.of()))
            .orElseThrow();
    ProcessLauncher launcher = ProcessLauncher.create();
    RunnerContext.Tools tools =
        new RunnerContext.Tools(
            launcher,
            new Watchdog(launcher, null),
            Schedule.create(),
            new Plugins(root.resolve("classes")),
            lastWords::add,
            PluginWork.LINGER);
    Path folder = Files.createDirectories(root.resolve("runner"));
    shop =
        new RunnerContext(
            new RunnerContext.Server(queues, () -> blobs),
            launcher.identify(ProcessHandle.current().pid()).orElseThrow(),
            tools,
            new TaskFolder(folder),
            new WorkFolder(new TaskFolder(folder)));
  }

  private Policy policy = Policy.NONE;

  RunnerContext shop() {
    return shop;
  }

  static ObjectNode json(String text) {
    return (ObjectNode) new JsonMapper().readTree(text.replace('\'', '"'));
  }

  static ObjectNode shell(String command) {
    return new JsonMapper().createObjectNode().put("command", command);
  }

  /** Gives the queues of later tasks these settings, each followed by its value. */
  void retry(String... settings) {
    Map<String, String> fields = new HashMap<>();
    for (int i = 0; i < settings.length; i += 2) {
      fields.put(settings[i], settings[i + 1]);
    }
    policy = new Policy(fields);
  }

  /**
   * A claimed task of a new queue, whose own plugin declares nothing: the runner has to cope with
   * params that were stored before a plugin declared others.
   */
  Run claim(ObjectNode params) {
    Queue queue =
        queues
            .queues()
            .create(
                "queue-" + queues.newId(),
                "undeclared",
                Queue.Settings.DEFAULTS.withThreads(1).withPolicy(policy));
    queues.submission().submit(queue, List.of(params), Status.QUEUED);
    return queues.runs().claim(node, queue, 1, lease).getFirst();
  }

  Assignment assignment(String plugin, Run run) {
    return new Assignment(
        run, plugin, limits, new Assignment.Terms(new PluginFolder(plugins), lease, true));
  }

  TaskRun begin(String plugin, ObjectNode params) {
    return new TaskRun(assignment(plugin, claim(params)), shop, _ -> {});
  }

  /** The same with a plugin whose threads end, however long that takes on a busy machine. */
  TaskRun beginPatiently(String plugin, ObjectNode params) {
    RunnerContext.Tools tools = shop.tools();
    RunnerContext patient =
        new RunnerContext(
            shop.server(),
            shop.identity(),
            new RunnerContext.Tools(
                tools.launcher(),
                tools.watchdog(),
                tools.schedule(),
                tools.plugins(),
                tools.hardExit(),
                Duration.ofMinutes(1)),
            shop.folder(),
            shop.work());
    return new TaskRun(assignment(plugin, claim(params)), patient, _ -> {});
  }

  /** Runs a task to its end. */
  QueueTask run(String plugin, ObjectNode params) throws InterruptedException {
    TaskRun run = begin(plugin, params);
    run.carryOut();
    return task(run.assignment().task());
  }

  /** Runs a task of a schedule to its end. */
  QueueTask run(String plugin, ObjectNode params, Scheduled scheduled) throws InterruptedException {
    Queue queue =
        queues
            .queues()
            .create("queue-" + queues.newId(), plugin, Queue.Settings.DEFAULTS.withThreads(1));
    Transaction.Builder transaction = Transaction.by(Owner.client(1));
    var _ =
        queues.submission().submitWith(transaction, queue, params, List.of(scheduled), _ -> null);
    var _ = store.store().commit(transaction.build()).done();
    Run claimed = queues.runs().claim(node, queue, 1, lease).getFirst();
    TaskRun run = new TaskRun(assignment(plugin, claimed), shop, _ -> {});
    run.carryOut();
    return task(claimed.task());
  }

  QueueTask task(ObjectId id) {
    return queues.tasks().find(id).orElseThrow();
  }

  /** All of an output, wherever it is. */
  String text(Output output) throws IOException {
    return switch (output) {
      case Output.None() -> "(none)";
      case Output.Text(String text) -> text;
      case Output.Stored stored -> new String(bytes(stored), StandardCharsets.UTF_8);
    };
  }

  private byte[] bytes(Output.Stored stored) {
    OutputFile file = queues.file(stored.file()).orElseThrow();
    return file.content(blobs).read(0, (int) file.sizeBytes());
  }

  /** The names of all chunks in the blob store. */
  List<String> chunks() {
    try (var names = blobs.list("queue-task-")) {
      return names.map(blob -> blob.name()).toList();
    }
  }

  /** A plugin in the folder. */
  void program(String name, String script) throws IOException {
    Path file = Files.writeString(plugins.resolve(name), script);
    Files.setPosixFilePermissions(
        file, java.nio.file.attribute.PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  static @Nullable String reason(QueueTask task) {
    return task.progress().reason();
  }

  Path root() {
    return root;
  }

  @Override
  public void close() {
    shop.tools().watchdog().close();
    shop.tools().schedule().close();
    shop.tools().plugins().close();
    store.close();
  }
}
