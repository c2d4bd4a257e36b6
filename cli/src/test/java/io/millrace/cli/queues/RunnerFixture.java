package io.millrace.cli.queues;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.remote.ServerLocation;
import io.millrace.client.HttpTaskStore;
import io.millrace.queues.NodeConfig;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask;
import io.millrace.queues.Run;
import io.millrace.queues.Status;
import io.millrace.queues.node.Runners;
import io.millrace.queues.registry.Queues;
import io.millrace.queues.runner.LocalRunners;
import io.millrace.server.MillraceServer;
import io.millrace.server.config.Configuration;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;
import tools.jackson.databind.json.JsonMapper;

/** A server, and the operations of a node on its runners. */
final class RunnerFixture implements Runners.Listener, AutoCloseable {
  private final Path root;
  private final NodeRecord node;
  private MillraceServer server;
  private HttpTaskStore store;
  private Queues queues;
  private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
  private final List<LocalRunners> open = new ArrayList<>();

  RunnerFixture(Path root) {
    this.root = root;
    server = startServer(root);
    store = HttpTaskStore.open(URI.create(address()));
    queues = queues(store);
    node =
        queues
            .nodes()
            .take("site", null, new NodeIdentity("instance", "host", "2 mark", List.of()))
            .orElseThrow();
  }

  private static MillraceServer startServer(Path root) {
    return MillraceServer.start(
        Configuration.read(
            MillraceServer.SECTIONS,
            null,
            Map.of(
                "store.data", root.resolve("data").toString(),
                "store.journal", "opportunistic",
                "server.port", "0")));
  }

  private static Queues queues(HttpTaskStore store) {
    return Queues.in(store, InstantSource.system(), new Random());
  }

  private String address() {
    return "http://127.0.0.1:" + server.port();
  }

  /** Stops the server; another goes on with its folder and listens elsewhere. */
  void moveServer() {
    store.close();
    server.close();
    server = startServer(root);
    store = HttpTaskStore.open(URI.create(address()));
    queues = queues(store);
  }

  private LocalRunners.Options.Command command() {
    return new LocalRunners.Options.Command(
        Program.runner(), ServerLocation.at(address()).arguments());
  }

  LocalRunners create(int idle) {
    return create(root.resolve("runners"), idle);
  }

  private LocalRunners create(Path folder, int idle) {
    LocalRunners runners =
        LocalRunners.create(
            LocalRunners.Options.in(folder, command())
                .withIdle(idle)
                .withLease(Duration.ofMinutes(5)));
    open.add(runners);
    return runners;
  }

  LocalRunners open(int idle) {
    LocalRunners runners = create(idle);
    assertThat(runners.recover(runs(), this)).isEmpty();
    return runners;
  }

  /** With runners of which those that are too many stay for {@code linger}. */
  LocalRunners open(int idle, Duration linger) {
    return open(new LocalRunners.Options.Warm(idle, linger, LocalRunners.Options.LONGEST_IDLE));
  }

  /** With runners kept so. */
  LocalRunners open(LocalRunners.Options.Warm warm) {
    LocalRunners runners =
        LocalRunners.create(
            LocalRunners.Options.in(root.resolve("runners"), command()).withWarm(warm));
    open.add(runners);
    assertThat(runners.recover(runs(), this)).isEmpty();
    return runners;
  }

  /** Waits until there is one idle runner, no more and no less. */
  void awaitOneIdle(LocalRunners runners) {
    long end = System.nanoTime() + Duration.ofSeconds(90).toNanos();
    while (runners.idle(NodeConfig.DEFAULTS) != 1) {
      assertThat(System.nanoTime()).as("there is one idle runner in time").isLessThan(end);
      LockSupport.parkNanos(5_000_000);
    }
  }

  /**
   * With a runner that loses its claims so soon if it does not renew them; it is there, so that its
   * start does not count.
   */
  LocalRunners openWithLease(Duration lease) {
    LocalRunners runners =
        LocalRunners.create(
            LocalRunners.Options.in(root.resolve("runners"), command())
                .withIdle(1)
                .withLease(lease));
    open.add(runners);
    assertThat(runners.recover(runs(), this)).isEmpty();
    runners.prepare(NodeConfig.DEFAULTS);
    awaitOneIdle(runners);
    return runners;
  }

  LocalRunners openIn(Path folder) {
    LocalRunners runners = create(folder, 0);
    assertThat(runners.recover(runs(), this)).isEmpty();
    return runners;
  }

  Path socket() {
    return root.resolve("runners").resolve("socket");
  }

  NodeConfig config(List<String> taskRunner) {
    NodeConfig usual = NodeConfig.DEFAULTS;
    return new NodeConfig(null, taskRunner, List.of(), List.of(), List.of(), null, usual.output());
  }

  Run claim(String command) {
    return claimMany(command, 1).getFirst();
  }

  List<Run> claimMany(String command, int count) {
    Queue queue =
        queues
            .queues()
            .create("queue-" + queues.newId(), "shell", Queue.Settings.DEFAULTS.withThreads(count));
    var params = new JsonMapper().createObjectNode().put("command", command);
    queues.submission().submit(queue, Collections.nCopies(count, params), Status.QUEUED);
    return queues.runs().claim(node, queue, count, LocalRunners.Options.LEASE);
  }

  List<Run> runs() {
    return queues.runs().all();
  }

  QueueTask task(ObjectId id) {
    return queues.tasks().find(id).orElseThrow();
  }

  Path fifo() throws IOException, InterruptedException {
    Path fifo = root.resolve("fifo");
    assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor()).isZero();
    return fifo;
  }

  String nextEvent() throws InterruptedException {
    return events.take();
  }

  @Override
  public void ended(ObjectId task) {
    events.add("ended " + task);
  }

  @Override
  public void lost(ObjectId task, String reason) {
    events.add("lost " + task + " " + reason);
  }

  @Override
  public void notStarted(ObjectId task, String reason) {
    events.add("not started " + task + " " + reason);
  }

  @Override
  public void close() throws IOException {
    open.forEach(LocalRunners::close);
    // Whatever a failed test has left; those that are idle end by themselves.
    Program.killAll(root);
    store.close();
    server.close();
  }
}
