package io.millrace.queues.registry;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.archive.Archive;
import io.millrace.archive.Archiver;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.FileBlobStore;
import io.millrace.database.DatabaseAddress;
import io.millrace.queues.Json;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueBackend.Submitted;
import io.millrace.queues.QueueBackend.Terms;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.Run.Report;
import io.millrace.queues.Status;
import io.millrace.store.TaskStore;
import io.millrace.store.testkit.contract.StoreFixture;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.Retention;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import tools.jackson.databind.node.ObjectNode;

/** Queues over a store of a test, with a clock that the test moves together with the store's. */
final class QueuesFixture {
  static final Duration LEASE = Duration.ofMinutes(5);

  private final StoreFixture fixture;
  private final Path folder;
  private final Archive archive;
  private long millis = Instant.parse("2026-01-02T03:04:05Z").toEpochMilli();
  private Queues queues;

  QueuesFixture(StoreFixture fixture, Path folder) {
    this.fixture = fixture;
    this.folder = folder;
    this.archive = Archive.at(DatabaseAddress.file(folder.resolve("archive.db")));
    this.queues = open(1);
  }

  private Queues open(long seed) {
    return Queues.in(fixture.store(), clock(), new Random(seed));
  }

  InstantSource clock() {
    return () -> Instant.ofEpochMilli(millis);
  }

  Queues queues() {
    return queues;
  }

  TaskStore store() {
    return fixture.store();
  }

  BlobStore blobs() {
    return FileBlobStore.open(folder.resolve("blobs"));
  }

  void advance(Duration time) {
    fixture.advance(time);
    millis += time.toMillis();
  }

  void restart() {
    fixture.restart();
    queues = open(2);
  }

  Sweeper sweeper(Sweeper.Settings settings) {
    return Sweeper.of(store(), blobs(), archived(), settings, clock(), new Random(3));
  }

  /** The archive, in a file of its own. */
  TaskArchive archived() {
    return new TaskArchive(archive, blobs());
  }

  /** Closes the archive, if it was used. */
  void close() {
    archive.close();
  }

  /** Moves finished tasks to the archive. */
  void archive(Retention retention) {
    Archiver archiver =
        new Archiver(archive, null, List.of(queues.retention(retention, Duration.ofSeconds(1))));
    while (!archiver.step(clock().instant()).isAfter(clock().instant())) {
      assertThat(archiver.problem()).isNull();
    }
  }

  Queue queue(String name, int threads) {
    return queues.queues().create(name, "shell", Queue.Settings.DEFAULTS.withThreads(threads));
  }

  /** A queue whose tasks have these settings, each followed by its value. */
  Queue queue(String name, int threads, String... settings) {
    Queue.Settings with = Queue.Settings.DEFAULTS.withThreads(threads).withPolicy(policy(settings));
    return queues.queues().create(name, "shell", with);
  }

  /** Settings, each followed by its value. */
  static Policy policy(String... settings) {
    Map<String, String> fields = new HashMap<>();
    for (int i = 0; i < settings.length; i += 2) {
      fields.put(settings[i], settings[i + 1]);
    }
    return new Policy(fields);
  }

  ObjectId submit(Queue queue, Terms terms) {
    return submit(queue, terms, params("x")).getFirst().id();
  }

  List<Submitted> submit(Queue queue, Terms terms, ObjectNode... params) {
    List<Submitted> created = new ArrayList<>();
    queues.submission().submit(queue, List.of(params), terms, created::addAll);
    return created;
  }

  NodeRecord node(String name) {
    NodeIdentity presence =
        new NodeIdentity("instance-" + name, "host", "1 mark", List.of("shell"));
    return queues.nodes().take(name, null, presence).orElseThrow();
  }

  static ObjectNode params(String command) {
    return Json.object().put("command", command);
  }

  List<ObjectId> submit(Queue queue, int count) {
    return queues
        .submission()
        .submit(
            queue,
            IntStream.range(0, count).mapToObj(i -> params("task " + i)).toList(),
            Status.QUEUED);
  }

  QueueTask task(ObjectId id) {
    return queues.tasks().find(id).orElseThrow();
  }

  static Report report(int status, String stdout) {
    return new Report(
        status, new TaskOutput(new Output.Text(stdout), Output.none()), List.of(), null);
  }
}
