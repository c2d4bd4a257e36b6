package io.millrace.mongo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.blobs.BlobStore;
import io.millrace.blobs.FileBlobStore;
import io.millrace.mongo.MongoMove.Moved;
import io.millrace.mongo.MongoMove.Selection;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output;
import io.millrace.queues.Output.OutputFile;
import io.millrace.queues.Output.OutputRecovery;
import io.millrace.queues.Queue;
import io.millrace.queues.Queue.Sort;
import io.millrace.queues.QueueBackend.Change;
import io.millrace.queues.QueueBackend.Submitted;
import io.millrace.queues.QueueBackend.Terms;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueuesException;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.QueuesException.TaskStateException;
import io.millrace.queues.Run;
import io.millrace.queues.Status;
import io.millrace.queues.registry.Queues;
import io.millrace.queues.registry.TaskTransfer;
import io.millrace.store.StoreException;
import io.millrace.store.StoreOptions;
import io.millrace.store.StoreOptions.Journaling;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.DocumentQuery;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.Document;
import org.bson.types.Binary;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/** Tasks move between a database and a store, and what is interrupted goes on. */
class MongoMoveTest {
  private static final Duration LEASE = Duration.ofMinutes(5);
  private static final Selection ALL = new Selection(List.of(), false);
  private static final JsonMapper JSON = new JsonMapper();

  private final TestDatabase database = new TestDatabase();
  private final TaskStore store;
  private final BlobStore blobs;

  /** After how many commits one is carried out and not answered; 0 for none. */
  private final AtomicInteger lostCommit = new AtomicInteger();

  private final Queues queues;

  MongoMoveTest(@TempDir Path folder) {
    store =
        TaskStore.open(
            StoreOptions.in(folder.resolve("store")).withJournaling(Journaling.OPPORTUNISTIC));
    blobs = FileBlobStore.open(folder.resolve("blobs"));
    queues = Queues.in(forgetful(store), InstantSource.system(), new Random(1));
  }

  @AfterEach
  void close() {
    store.close();
    database.close();
  }

  private TaskStore forgetful(TaskStore real) {
    return (TaskStore)
        Proxy.newProxyInstance(
            TaskStore.class.getClassLoader(),
            new Class<?>[] {TaskStore.class},
            (_, method, arguments) -> {
              try {
                Object answer = method.invoke(real, arguments);
                if (method.getName().equals("commit") && lostCommit.getAndDecrement() == 1) {
                  throw new StoreException("the answer was lost");
                }
                return answer;
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  private MongoMove move() {
    return MongoMove.between(database.address(), queues, blobs, InstantSource.system());
  }

  private List<Moved> imported(Selection selection) {
    try (MongoMove move = move()) {
      return move.importQueues(selection, (_, _) -> {});
    }
  }

  private List<Moved> exported(Selection selection) {
    try (MongoMove move = move()) {
      return move.exportQueues(selection, (_, _) -> {});
    }
  }

  private Document document(Object id) {
    return Objects.requireNonNull(
        database.collection("tasks").find(new Document("_id", id)).first());
  }

  private org.bson.types.ObjectId task(org.bson.types.ObjectId queue, Document set) {
    org.bson.types.ObjectId id = OldNode.task(database, queue, new Document("n", 1));
    database.collection("tasks").updateOne(new Document("_id", id), new Document("$set", set));
    return id;
  }

  private QueueTask taken(org.bson.types.ObjectId id) {
    return queues.tasks().find(BsonForm.id(id)).orElseThrow();
  }

  private String text(Output output) {
    return switch (output) {
      case Output.None() -> "(none)";
      case Output.Text(String text) -> text;
      case Output.Stored stored -> {
        OutputFile file = queues.file(stored.file()).orElseThrow();
        assertThat(file.sizeBytes()).isEqualTo(stored.sizeBytes());
        yield new String(
            file.content(blobs).read(0, (int) file.sizeBytes()), StandardCharsets.UTF_8);
      }
    };
  }

  private org.bson.types.ObjectId file(org.bson.types.ObjectId task, Object... chunks) {
    org.bson.types.ObjectId id = new org.bson.types.ObjectId();
    for (int i = 0; i < chunks.length; i++) {
      database
          .collection("tasks.chunks")
          .insertOne(new Document("files_id", id).append("n", i).append("data", chunks[i]));
    }
    database
        .collection("tasks.files")
        .insertOne(
            new Document("_id", id)
                .append("filename", "stdout")
                .append("length", 1)
                .append("metadata", new Document("task_id", task)));
    return id;
  }

  @Test
  void tasks_come_with_ids_times_params_and_outputs() {
    org.bson.types.ObjectId queue = OldNode.queue(database, "mail", 4, "fifo");
    Date then = Date.from(Instant.parse("2016-04-26T17:59:33Z"));
    org.bson.types.ObjectId other = new org.bson.types.ObjectId();
    org.bson.types.ObjectId waiting =
        OldNode.task(
            database,
            queue,
            new Document("user", "ä").append("id", other).append("at", then).append("d", 1.5));
    org.bson.types.ObjectId held = task(queue, new Document("status", -4));
    org.bson.types.ObjectId orphaned =
        task(queue, new Document("status", -6).append("node", "mig01"));
    org.bson.types.ObjectId claimed = task(queue, new Document("status", -1).append("node", "n"));
    Document end =
        new Document("status", 17)
            .append("node", "mig01")
            .append("ctime", then)
            .append("mtime", then);
    String longText = "zeile ä\n".repeat(50_000);
    org.bson.types.ObjectId texts =
        task(queue, new Document(end).append("stdout", "short").append("stderr", longText));
    org.bson.types.ObjectId inFiles = task(queue, end);
    org.bson.types.ObjectId strings = file(inFiles, "ab", "cä");
    org.bson.types.ObjectId binary =
        file(inFiles, new Binary("xyz".getBytes(StandardCharsets.UTF_8)));
    database
        .collection("tasks")
        .updateOne(
            new Document("_id", inFiles),
            new Document("$set", new Document("stdout", strings).append("stderr", binary)));

    assertThat(imported(new Selection(List.of("mail"), true)))
        .containsExactly(new Moved("mail", 4, 1, 2, 2, 1, List.of()));
    assertThat(queues.queues().all()).isEmpty();
    assertThat(document(waiting)).doesNotContainKey("millrace");

    assertThat(imported(ALL)).containsExactly(new Moved("mail", 4, 1, 2, 2, 1, List.of()));

    Queue adopted = queues.queues().find("mail").orElseThrow();
    assertThat(adopted.id()).isEqualTo(BsonForm.id(queue));
    assertThat(adopted.plugin()).isEqualTo("Disbatch::Plugin::Demo");
    assertThat(adopted.settings().threads()).isZero();
    assertThat(adopted.settings().sort()).isEqualTo(Sort.FIFO);
    assertThat(taken(waiting).params().toString())
        .isEqualTo(
            "{\"user\":\"ä\",\"id\":{\"$oid\":\"%s\"},\"at\":{\"$date\":%d},\"d\":1.5}"
                .formatted(other, then.toInstant().toEpochMilli()));
    assertThat(taken(waiting).status()).isEqualTo(Status.QUEUED);
    assertThat(taken(held).status()).isEqualTo(Status.BLOCKED);
    assertThat(taken(orphaned).status()).isEqualTo(Status.ORPHANED);
    assertThat(queues.tasks().find(BsonForm.id(claimed))).isEmpty();
    assertThat(document(claimed)).doesNotContainKey("millrace").containsEntry("status", -1);
    QueueTask done = taken(texts);
    assertThat(done.status()).isEqualTo(17);
    assertThat(done.progress().node()).isEqualTo("mig01");
    assertThat(done.ctimeMillis()).isEqualTo(then.toInstant().toEpochMilli());
    assertThat(done.progress().mtimeMillis()).isEqualTo(then.toInstant().toEpochMilli());
    assertThat(text(done.output().stdout())).isEqualTo("short");
    assertThat(text(done.output().stderr())).isEqualTo(longText);
    assertThat(text(taken(inFiles).output().stdout())).isEqualTo("abcä");
    assertThat(text(taken(inFiles).output().stderr())).isEqualTo("xyz");
    assertThat(taken(inFiles).output().stdout())
        .isEqualTo(new Output.Stored(BsonForm.id(strings), 5, false));

    // Old nodes leave what has moved alone, and readers still see what has finished.
    OldNode old = new OldNode(database, "old");
    assertThat(old.claim(queue)).isEmpty();
    assertThat(document(waiting)).containsEntry("status", TaskTransfer.MOVED);
    assertThat(document(texts)).containsEntry("status", 17).containsEntry("stdout", "short");
    try (MongoQueues site = database.node("77 start")) {
      assertThatThrownBy(() -> site.tasks().requeue(BsonForm.id(waiting)))
          .isInstanceOf(TaskStateException.class);
    }

    // What was running comes later, once.
    database
        .collection("tasks")
        .updateOne(new Document("_id", claimed), new Document("$set", new Document("status", 1)));
    org.bson.types.ObjectId late = OldNode.task(database, queue, new Document());
    assertThat(imported(ALL)).containsExactly(new Moved("mail", 4, 1, 0, 1, 0, List.of()));
    assertThat(taken(claimed).status()).isEqualTo(Status.SUCCEEDED);
    assertThat(taken(late).status()).isEqualTo(Status.QUEUED);
    assertThat(imported(ALL)).containsExactly(new Moved("mail", 4, 0, 0, 0, 0, List.of()));
    assertThat(queues.queues().counts(List.of(adopted))).containsExactly(new Queue.Counts(4, 0, 3));
  }

  @Test
  void what_cannot_move_is_named_and_changes_nothing() {
    org.bson.types.ObjectId queue = OldNode.queue(database, "mail", 4, "fifo");
    org.bson.types.ObjectId large =
        OldNode.task(database, queue, new Document("text", "x".repeat(2 << 20)));
    org.bson.types.ObjectId small = OldNode.task(database, queue, new Document());

    Moved moved = imported(ALL).getFirst();
    assertThat(moved.problems()).containsExactly("the params of task " + large + " are too large");
    assertThat(moved.waiting()).isEqualTo(1);
    assertThat(document(large)).containsEntry("status", -2).doesNotContainKey("millrace");
    assertThat(taken(small).status()).isEqualTo(Status.QUEUED);

    assertThatThrownBy(() -> imported(new Selection(List.of("none"), false)))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("none");
    queues.queues().create("other", "demo", Queue.Settings.DEFAULTS);
    OldNode.queue(database, "other", 4, "fifo");
    assertThatThrownBy(() -> imported(ALL))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("other");
  }

  /** Works on all tasks of a queue on both sides, and counts how often each was worked on. */
  private void work(ObjectId queue, Map<String, Integer> worked) {
    OldNode old = new OldNode(database, "old");
    org.bson.types.ObjectId there = BsonForm.id(queue);
    database
        .collection("queues")
        .updateOne(new Document("_id", there), new Document("$set", new Document("threads", 9)));
    old.claim(there)
        .filter(old::begin)
        .ifPresent(task -> {
          worked.merge(task.getObjectId("_id").toHexString(), 1, Integer::sum);
          old.finish(task, 1, "old");
        });
    if (queues.queues().find(queue).isEmpty()) {
      return;
    }
    Queue here =
        queues
            .queues()
            .change(
                queue, now -> new Change(now.name(), now.plugin(), now.settings().withThreads(9)))
            .orElseThrow();
    NodeRecord node =
        queues
            .nodes()
            .find("n")
            .or(() ->
                queues.nodes().take("n", null, new NodeIdentity("i", "h", "1 s", List.of("demo"))))
            .orElseThrow();
    for (Run run : queues.runs().claim(node, here, 1, LEASE, OutputRecovery.NOTHING)) {
      var started = queues.runs().begin(run, "77 start", LEASE);
      worked.merge(run.task().hex(), 1, Integer::sum);
      queues
          .runs()
          .finish(
              started,
              new Run.Report(
                  1,
                  new QueueTask.TaskOutput(new Output.Text("ours"), Output.none()),
                  List.of(),
                  null));
    }
  }

  @Test
  void an_import_that_ends_anywhere_goes_on_without_losing_or_repeating_a_task() {
    int cuts = 0;
    for (int at = 1; interrupted(at, Cut.BEFORE); at++) {
      cuts++;
    }
    for (int at = 1; interrupted(at, Cut.AFTER); at++) {
      cuts++;
    }
    for (int at = 1; interrupted(at, Cut.COMMIT); at++) {
      cuts++;
    }
    // At least a mark of each status and what says that they have moved; and commits of a queue,
    // a file, the tasks and their end.
    assertThat(cuts).isGreaterThanOrEqualTo(2 * 3 + 4);
  }

  private enum Cut {
    BEFORE,
    AFTER,
    COMMIT
  }

  /** Returns whether there was anything to interrupt. */
  private boolean interrupted(int at, Cut cut) {
    org.bson.types.ObjectId queue = OldNode.queue(database, cut + "-" + at, 9, "fifo");
    List<org.bson.types.ObjectId> ids = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      ids.add(OldNode.task(database, queue, new Document("n", i)));
    }
    org.bson.types.ObjectId done =
        task(queue, new Document("status", 1).append("stdout", "o".repeat(5_000)));
    Selection selection = new Selection(List.of(queue.toHexString()), false);
    switch (cut) {
      case BEFORE -> database.cutAtChange(at, false);
      case AFTER -> database.cutAtChange(at, true);
      case COMMIT -> lostCommit.set(at);
    }
    boolean failed = false;
    try {
      var _ = imported(selection);
    } catch (QueuesException | StoreException e) {
      failed = true;
    } finally {
      database.cutAtChange(0, false);
      lostCommit.set(0);
    }
    Map<String, Integer> worked = new HashMap<>();
    work(BsonForm.id(queue), worked);
    var _ = imported(selection);
    for (int i = 0; i < ids.size(); i++) {
      work(BsonForm.id(queue), worked);
    }
    for (org.bson.types.ObjectId id : ids) {
      assertThat(worked.get(id.toHexString())).as("%s %d: task %s", cut, at, id).isEqualTo(1);
    }
    assertThat(text(taken(done).output().stdout())).isEqualTo("o".repeat(5_000));
    assertThat(store.documents(DocumentQuery.prefix("queues.batches", "")).value().size())
        .isLessThanOrEqualTo(at);
    return failed;
  }

  @Test
  void an_export_does_the_opposite_and_the_way_back_is_open() {
    Queue queue = queues.queues().create("mail", "demo", Queue.Settings.DEFAULTS.withThreads(3));
    List<ObjectId> ids = new ArrayList<>();
    queues
        .submission()
        .submit(
            queue,
            List.of(
                JSON.createObjectNode().put("user1", "a"),
                JSON.createObjectNode().put("user1", "b"),
                JSON.createObjectNode().put("user1", "c")),
            Terms.DEFAULTS,
            some -> some.stream().map(Submitted::id).forEach(ids::add));
    queues.tasks().hold(ids.get(2), Status.BLOCKED, "later");
    Map<String, Integer> worked = new HashMap<>();
    NodeRecord node =
        queues
            .nodes()
            .take("n", null, new NodeIdentity("i", "h", "1 s", List.of("demo")))
            .orElseThrow();
    Run run = queues.runs().claim(node, queue, 1, LEASE, OutputRecovery.NOTHING).getFirst();

    assertThat(exported(new Selection(List.of(), true)))
        .containsExactly(new Moved("mail", 3, 1, 1, 0, 1, List.of()));
    assertThat(database.collection("tasks").countDocuments()).isZero();
    assertThat(exported(ALL)).containsExactly(new Moved("mail", 3, 1, 1, 0, 1, List.of()));

    assertThat(database.collection("queues").find().first())
        .containsEntry("name", "mail")
        .containsEntry("threads", 0);
    ObjectId waiting = run.task().equals(ids.get(0)) ? ids.get(1) : ids.get(0);
    assertThat(document(BsonForm.id(waiting)))
        .containsOnlyKeys(
            "_id", "queue", "ctime", "mtime", "node", "status", "params", "stdout", "stderr")
        .containsEntry("status", -2)
        .containsEntry("node", null)
        .containsEntry("stdout", null);
    assertThat(document(BsonForm.id(ids.get(2)))).containsEntry("status", -4);
    assertThat(queues.tasks().find(waiting)).isEmpty();
    var started = queues.runs().begin(run, "77 start", LEASE);
    queues
        .runs()
        .finish(
            started,
            new Run.Report(
                1,
                new QueueTask.TaskOutput(new Output.Text("ours"), Output.none()),
                List.of(),
                null));
    assertThat(exported(ALL).getFirst().finished()).isEqualTo(1);
    assertThat(document(BsonForm.id(run.task())))
        .containsEntry("stdout", "ours")
        .containsEntry("status", 1)
        .containsEntry("node", "n");

    // Back again, and out again: every task is in one place.
    assertThat(imported(ALL).getFirst().waiting()).isEqualTo(1);
    assertThat(exported(ALL).getFirst().waiting()).isEqualTo(1);
    assertThat(document(BsonForm.id(waiting)))
        .containsEntry("status", -2)
        .doesNotContainKey("millrace");
    work(queue.id(), worked);
    work(queue.id(), worked);
    assertThat(worked).containsOnly(Map.entry(waiting.hex(), 1));
  }

  @Test
  void an_export_that_ends_anywhere_goes_on_without_losing_or_repeating_a_task() {
    int cuts = 0;
    for (Cut cut : Cut.values()) {
      for (int at = 1; exportInterrupted(at, cut); at++) {
        cuts++;
      }
    }
    assertThat(cuts).isGreaterThanOrEqualTo(2 * 4 + 6);
  }

  private boolean exportInterrupted(int at, Cut cut) {
    Queue queue =
        queues.queues().create(cut + "-" + at, "demo", Queue.Settings.DEFAULTS.withThreads(3));
    List<ObjectId> ids = new ArrayList<>();
    queues
        .submission()
        .submit(
            queue,
            List.of(JSON.createObjectNode(), JSON.createObjectNode(), JSON.createObjectNode()),
            Terms.DEFAULTS,
            some -> some.stream().map(Submitted::id).forEach(ids::add));
    Selection selection = new Selection(List.of(queue.name()), false);
    switch (cut) {
      case BEFORE -> database.cutAtChange(at, false);
      case AFTER -> database.cutAtChange(at, true);
      case COMMIT -> lostCommit.set(at);
    }
    boolean failed = false;
    try {
      var _ = exported(selection);
    } catch (QueuesException | StoreException e) {
      failed = true;
    } finally {
      database.cutAtChange(0, false);
      lostCommit.set(0);
    }
    Map<String, Integer> worked = new HashMap<>();
    work(queue.id(), worked);
    var _ = exported(selection);
    for (int i = 0; i < ids.size(); i++) {
      work(queue.id(), worked);
    }
    for (ObjectId id : ids) {
      assertThat(worked.get(id.hex())).as("%s %d: task %s", cut, at, id).isEqualTo(1);
    }
    return failed;
  }
}
