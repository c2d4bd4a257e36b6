package io.millrace.mongo;

import com.mongodb.ErrorCategory;
import com.mongodb.MongoException;
import com.mongodb.MongoWriteException;
import com.mongodb.client.MongoCollection;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.Tail;
import io.millrace.mongo.MongoConnection.MongoRole;
import io.millrace.mongo.MongoQueues.Address;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output;
import io.millrace.queues.OutputReader.Stream;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.Queues;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.QueuesException.TaskStateException;
import io.millrace.queues.Status;
import io.millrace.queues.TaskIndex.TaskKind;
import io.millrace.queues.TaskTransfer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * Moves queues and tasks between a database of Disbatch and a store; to be closed. Ids stay.
 *
 * <p>Import. In the database a task that moves has a field {@code millrace}:
 *
 * <pre>
 *   not there ── mark ──→ {batch, status} ── take, in the store ──→ {batch, status, moved}
 * </pre>
 *
 * <p>The mark sets the status {@link TaskTransfer#MOVED} of a task that has not finished, so that
 * no node claims it, and remembers the one before. The store takes a batch once. So an import that
 * ended anywhere is repeated without losing or repeating a task. Claimed and running tasks are left
 * alone: when they have finished, the next import takes them.
 *
 * <p>Export. A task of the store that has not finished is first held, then inserted in the
 * database, then deleted in the store. Finished ones are copied.
 */
public final class MongoMove implements AutoCloseable {
  private static final int BATCH = 500;
  private static final int BATCH_BYTES = 2 << 20;

  /** So few that their outputs do not fill the memory. */
  private static final int READ_AT_ONCE = 10;

  private static final long TEXT_BYTES = 4 << 20;

  /** The field of a task that moves, or has moved. */
  static final String MARK = "millrace";

  private static final Pattern REASON = Pattern.compile("moves to MongoDB with status (-\\d+)");

  private final MongoConnection connection;
  private final GridFiles files;
  private final MongoDefinitions definitions;
  private final MongoTasks tasks;
  private final Queues store;
  private final BlobStore blobs;
  private final TaskTransfer transfer;
  private final InstantSource clock;

  private MongoMove(
      MongoConnection connection, Queues store, BlobStore blobs, InstantSource clock) {
    this.connection = connection;
    this.files = new GridFiles(connection);
    this.definitions = new MongoDefinitions(connection, clock);
    this.tasks =
        new MongoTasks(connection, files, definitions, new MongoNodes(connection, clock), clock);
    this.store = store;
    this.blobs = blobs;
    this.transfer = store.transfer(blobs);
    this.clock = clock;
  }

  /**
   * Between a database, with the credentials of {@code disbatchd}, and a store.
   *
   * @param blobs has the outputs of the store's tasks
   * @throws IllegalArgumentException if the credentials cannot be read
   */
  public static MongoMove between(
      Address address, Queues store, BlobStore blobs, InstantSource clock) {
    return new MongoMove(
        MongoConnection.open(address.address(), MongoRole.DISBATCHD), store, blobs, clock);
  }

  /**
   * What is moved.
   *
   * @param queues the ids or names of queues; none for all
   * @param dryRun whether tasks are only counted
   */
  public record Selection(List<String> queues, boolean dryRun) {
    public Selection {
      queues = List.copyOf(queues);
    }
  }

  /** Takes how many tasks of all have been looked at. */
  @FunctionalInterface
  public interface Progress {
    /** Takes the numbers. */
    void at(long done, long all);
  }

  /**
   * What has been moved of a queue, or would be.
   *
   * @param name its name
   * @param threads its limit where it was; null for none
   * @param waiting tasks that were queued
   * @param held tasks that were held back
   * @param finished tasks that had finished
   * @param active tasks that are claimed or running, and were left alone
   * @param problems what else was not moved, and why
   */
  public record Moved(
      String name,
      @Nullable Integer threads,
      long waiting,
      long held,
      long finished,
      long active,
      List<String> problems) {
    public Moved {
      problems = List.copyOf(problems);
    }
  }

  private MongoCollection<Document> collection() {
    return connection.collection("tasks");
  }

  private static List<Queue> chosen(List<Queue> all, List<String> names) {
    if (names.isEmpty()) {
      return all;
    }
    List<Queue> chosen = new ArrayList<>();
    for (String name : names) {
      chosen.add(
          all.stream()
              .filter(queue -> queue.id().hex().equals(name) || queue.name().equals(name))
              .findFirst()
              .orElseThrow(() ->
                  new InvalidRequestException("queue", "there is no queue " + name + " there")));
    }
    return chosen;
  }

  /**
   * Takes queues and tasks of the database into the store. A queue is created without running
   * tasks: its {@code threads} are 0.
   *
   * @throws InvalidRequestException if a queue does not exist, or the store has another one of its
   *     name; nothing has changed then
   */
  public List<Moved> importQueues(Selection selection, Progress progress) {
    // First the store: if it cannot be reached, nothing else matters.
    List<Queue> there = store.queues().all();
    List<Queue> chosen = chosen(definitions.all(), selection.queues());
    for (Queue queue : chosen) {
      boolean taken =
          there.stream()
              .anyMatch(
                  other -> other.name().equals(queue.name()) && !other.id().equals(queue.id()));
      if (taken) {
        throw new InvalidRequestException(
            "queue", "the store has another queue named " + queue.name() + ": rename one of them");
      }
    }
    long all = 0;
    for (Queue queue : chosen) {
      Document open = open(queue, MARK + ".moved");
      all += connection.call(() -> collection().countDocuments(open));
    }
    Counter counter = new Counter(progress, all);
    List<Moved> moved = new ArrayList<>();
    for (Queue queue : chosen) {
      moved.add(new Import(queue, selection.dryRun(), counter).run());
    }
    return moved;
  }

  /** The tasks of a queue that are neither claimed nor running, and do not have this field. */
  private static Document open(Queue queue, String without) {
    return new Document("queue", BsonForm.id(queue.id()))
        .append("status", new Document("$nin", List.of(Status.CLAIMED, Status.RUNNING)))
        .append(without, new Document("$exists", false));
  }

  private static final class Counter {
    private final Progress progress;
    private final long all;
    private long done;

    Counter(Progress progress, long all) {
      this.progress = progress;
      this.all = all;
    }

    void add(int more) {
      done += more;
      progress.at(Math.min(done, all), all);
    }
  }

  /** Counts by what tasks were. */
  private static final class Tally {
    private final Map<TaskKind, Long> counts = new HashMap<>();
    final List<String> problems = new ArrayList<>();

    void add(int status) {
      counts.merge(TaskKind.of(status), 1L, Long::sum);
    }

    Moved moved(Queue queue, long active) {
      return new Moved(
          queue.name(),
          queue.settings().threads(),
          counts.getOrDefault(TaskKind.QUEUED, 0L),
          counts.getOrDefault(TaskKind.HELD, 0L),
          counts.getOrDefault(TaskKind.FINISHED, 0L),
          active,
          problems);
    }
  }

  /** The move of one queue. */
  private abstract static class Move {
    final Queue queue;
    final boolean dry;
    final Counter counter;
    final Tally tally = new Tally();

    Move(Queue queue, boolean dry, Counter counter) {
      this.queue = queue;
      this.dry = dry;
      this.counter = counter;
    }
  }

  /** The import of one queue. */
  private final class Import extends Move {
    Import(Queue queue, boolean dry, Counter counter) {
      super(queue, dry, counter);
    }

    Moved run() {
      if (!dry) {
        transfer.adopt(queue.id(), queue.name(), queue.plugin(), queue.settings().withThreads(0));
        finishMarked();
      }
      org.bson.types.ObjectId after = null;
      for (List<Document> page = page(after); !page.isEmpty(); page = page(after)) {
        after = page.getLast().getObjectId("_id");
        look(page);
      }
      Document active =
          new Document("queue", BsonForm.id(queue.id()))
              .append("status", new Document("$in", List.of(Status.CLAIMED, Status.RUNNING)));
      return tally.moved(queue, connection.call(() -> collection().countDocuments(active)));
    }

    /** The next tasks without a mark, oldest first, without their outputs. */
    private List<Document> page(org.bson.types.@Nullable ObjectId after) {
      Document filter = open(queue, dry ? MARK + ".moved" : MARK);
      if (after != null) {
        filter.append("_id", new Document("$gt", after));
      }
      return connection.call(() ->
          collection()
              .find(filter)
              .projection(new Document("stdout", 0).append("stderr", 0))
              .sort(new Document("_id", 1))
              .limit(BATCH)
              .into(new ArrayList<>()));
    }

    private void look(List<Document> page) {
      List<Document> batch = new ArrayList<>();
      long bytes = 0;
      for (Document document : page) {
        Optional<QueueTask> task = tasks.task(document);
        if (task.isEmpty()) {
          tally.problems.add("the document " + document.get("_id") + " is no task");
          continue;
        }
        if (!transfer.fits(task.get().params())) {
          tally.problems.add("the params of task " + task.get().id() + " are too large");
          continue;
        }
        long size = task.get().params().toString().length();
        if (bytes + size > BATCH_BYTES && !batch.isEmpty()) {
          move(batch);
          batch.clear();
          bytes = 0;
        }
        bytes += size;
        batch.add(document);
      }
      if (!batch.isEmpty()) {
        move(batch);
      }
    }

    private void move(List<Document> documents) {
      if (dry) {
        for (Document document : documents) {
          Document mark = document.get(MARK, Document.class);
          tally.add(BsonForm.integer(mark == null ? document : mark, "status", 0));
        }
        counter.add(documents.size());
        return;
      }
      org.bson.types.ObjectId batch = new org.bson.types.ObjectId();
      Map<Integer, List<org.bson.types.ObjectId>> byStatus = new LinkedHashMap<>();
      for (Document document : documents) {
        byStatus
            .computeIfAbsent(BsonForm.integer(document, "status", 0), _ -> new ArrayList<>())
            .add(document.getObjectId("_id"));
      }
      byStatus.forEach((status, ids) -> mark(batch, status, ids));
      take(batch, documents.stream().map(each -> each.getObjectId("_id")).toList());
    }

    /** Marks those that still have this status. */
    private void mark(
        org.bson.types.ObjectId batch, int status, List<org.bson.types.ObjectId> ids) {
      Document still =
          new Document("_id", new Document("$in", ids))
              .append("status", status)
              .append(MARK, new Document("$exists", false));
      Document set = new Document(MARK, new Document("batch", batch).append("status", status));
      if (!Status.isFinished(status)) {
        set.append("status", TaskTransfer.MOVED);
      }
      connection.call(() -> collection().updateMany(still, new Document("$set", set)));
    }

    private void take(org.bson.types.ObjectId batch, List<org.bson.types.ObjectId> ids) {
      Document marked =
          new Document("_id", new Document("$in", ids)).append(MARK + ".batch", batch);
      ObjectId key = BsonForm.id(batch);
      List<QueueTask> taken = new ArrayList<>();
      var _ =
          connection.call(() -> {
            for (Document each :
                collection().find(marked).sort(new Document("_id", 1)).batchSize(READ_AT_ONCE)) {
              tasks.task(each).ifPresent(task -> taken.add(before(task, each)));
            }
            return taken;
          });
      if (!taken.isEmpty()) {
        transfer.take(key, taken);
        Document moved =
            new Document("$set", new Document(MARK + ".moved", Date.from(clock.instant())));
        connection.call(() -> collection().updateMany(marked, moved));
        transfer.forget(key);
      }
      taken.forEach(task -> tally.add(task.status()));
      counter.add(ids.size());
    }

    /** A task as it was before its mark, with outputs that are stored. */
    private QueueTask before(QueueTask task, Document document) {
      return TaskTransfer.task(
          task,
          BsonForm.integer(document.get(MARK, Document.class), "status", 0),
          new TaskOutput(
              output(task.id(), Stream.STDOUT, document),
              output(task.id(), Stream.STDERR, document)));
    }

    private Output output(ObjectId task, Stream stream, Document document) {
      return switch (document.get(stream.word())) {
        case null -> Output.none();
        case org.bson.types.ObjectId file -> {
          Optional<Tail> content = files.read(BsonForm.id(file));
          if (content.isEmpty()) {
            tally.problems.add(
                "the file %s, %s of task %s, does not exist".formatted(file, stream.word(), task));
            yield Output.none();
          }
          yield transfer.output(task, stream, BsonForm.id(file), content.get());
        }
        case Object text -> transfer.output(task, stream, null, Tail.of(text.toString()));
      };
    }

    /** Finishes what an import that ended has left. */
    private void finishMarked() {
      Document left =
          new Document("queue", BsonForm.id(queue.id()))
              .append(MARK + ".batch", new Document("$exists", true))
              .append(MARK + ".moved", new Document("$exists", false));
      Map<org.bson.types.ObjectId, List<org.bson.types.ObjectId>> batches = new LinkedHashMap<>();
      connection.call(() -> {
        batches.clear();
        for (Document each : collection().find(left).projection(new Document(MARK, 1))) {
          batches
              .computeIfAbsent(
                  each.get(MARK, Document.class).getObjectId("batch"), _ -> new ArrayList<>())
              .add(each.getObjectId("_id"));
        }
        return batches;
      });
      batches.forEach(this::take);
    }
  }

  /**
   * Moves queues and tasks of the store into the database. A queue is created with {@code threads}
   * 0. Settings and delays that the schema has no field for are named among the problems.
   *
   * @throws InvalidRequestException if a queue does not exist, or the database has another one of
   *     its name; nothing has changed then
   */
  public List<Moved> exportQueues(Selection selection, Progress progress) {
    List<Queue> chosen = chosen(store.queues().all(), selection.queues());
    for (Queue queue : chosen) {
      Optional<Queue> same = definitions.find(queue.name());
      if (same.isPresent() && !same.get().id().equals(queue.id())) {
        throw new InvalidRequestException(
            "queue",
            "the database has another queue named " + queue.name() + ": rename one of them");
      }
    }
    long all =
        chosen.stream()
            .map(queue -> store.index().counts().get(queue.id()))
            .filter(Objects::nonNull)
            .mapToLong(counts -> counts.queued() + counts.held() + counts.finished())
            .sum();
    Counter counter = new Counter(progress, all);
    List<Moved> moved = new ArrayList<>();
    for (Queue queue : chosen) {
      moved.add(new Export(queue, selection.dryRun(), counter).run());
    }
    return moved;
  }

  /** The export of one queue. */
  private final class Export extends Move {
    Export(Queue queue, boolean dry, Counter counter) {
      super(queue, dry, counter);
    }

    Moved run() {
      if (!queue.settings().policy().isEmpty() || queue.settings().requeueOrphans() > 0) {
        tally.problems.add("settings that queues in MongoDB do not have were left out");
      }
      if (!dry) {
        define();
      }
      for (TaskKind kind : List.of(TaskKind.QUEUED, TaskKind.HELD, TaskKind.FINISHED)) {
        for (String id : store.index().ids(queue.id(), kind, false)) {
          store.tasks().find(new ObjectId(id)).ifPresent(this::move);
          counter.add(1);
        }
      }
      long active = 0;
      for (String _ : store.index().ids(queue.id(), TaskKind.ACTIVE, false)) {
        active++;
      }
      return tally.moved(queue, active);
    }

    private void define() {
      if (definitions.find(queue.id()).isEmpty()) {
        Document document =
            new Document("_id", BsonForm.id(queue.id()))
                .append("name", queue.name())
                .append("plugin", queue.plugin())
                .append("threads", 0)
                .append("sort", queue.settings().sort().word());
        if (!queue.settings().nodesPin().isEmpty()) {
          document.append("nodes_pin", queue.settings().nodesPin());
        }
        if (!queue.settings().nodesIgnore().isEmpty()) {
          document.append("nodes_ignore", queue.settings().nodesIgnore());
        }
        connection.call(() -> connection.collection("queues").insertOne(document));
      }
    }

    private void move(QueueTask task) {
      if (Status.isActive(task.status())) {
        return;
      }
      if (Status.isFinished(task.status())) {
        if (!dry) {
          insert(document(task, task.status()));
        }
        tally.add(task.status());
        return;
      }
      if (task.status() == Status.QUEUED
          && task.progress().retries().notBeforeMillis() > clock.millis()) {
        tally.problems.add("task " + task.id() + " is delayed, which tasks in MongoDB cannot be");
        return;
      }
      String reason = task.progress().reason();
      Matcher before = REASON.matcher(reason == null ? "" : reason);
      boolean begun = task.status() == TaskTransfer.MOVED && before.matches();
      int status = begun ? Integer.parseInt(before.group(1)) : task.status();
      if (!dry) {
        Optional<QueueTask> held = Optional.of(task);
        try {
          if (!begun) {
            held =
                store
                    .tasks()
                    .hold(task.id(), TaskTransfer.MOVED, "moves to MongoDB with status " + status);
          }
        } catch (TaskStateException e) {
          // It has been claimed just now.
          return;
        }
        if (held.isEmpty()) {
          return;
        }
        insert(document(held.get(), status));
        if (!transfer.giveUp(held.get())) {
          tally.problems.add("task " + task.id() + " was changed while it moved, and is in both");
        }
      }
      tally.add(status);
    }

    /** Inserts a task unless it is there; what an import has left of it is replaced. */
    private void insert(Document document) {
      try {
        collection().insertOne(document);
      } catch (MongoWriteException e) {
        if (ErrorCategory.fromErrorCode(e.getCode()) != ErrorCategory.DUPLICATE_KEY) {
          throw MongoConnection.failed(e);
        }
        Document moved =
            new Document("_id", document.get("_id"))
                .append(MARK + ".moved", new Document("$exists", true));
        connection.call(() -> collection().replaceOne(moved, document));
      } catch (MongoException e) {
        throw MongoConnection.failed(e);
      }
    }

    private Document document(QueueTask task, int status) {
      Document document =
          new Document("_id", BsonForm.id(task.id()))
              .append("queue", BsonForm.id(task.queue()))
              .append("ctime", Date.from(Instant.ofEpochMilli(task.ctimeMillis())))
              .append("mtime", Date.from(Instant.ofEpochMilli(task.progress().mtimeMillis())))
              .append("node", Status.isFinished(status) ? task.progress().node() : null)
              .append("status", status)
              .append("params", BsonForm.document(task.params(), "params"));
      document.append("stdout", field(task, "stdout", task.output().stdout()));
      return document.append("stderr", field(task, "stderr", task.output().stderr()));
    }

    private @Nullable Object field(QueueTask task, String stream, Output output) {
      return switch (output) {
        case Output.None() -> null;
        case Output.Text(String text) -> text;
        case Output.Stored stored -> {
          Tail content =
              store.file(stored.file()).<Tail>map(file -> file.content(blobs)).orElse(Tail.of(""));
          if (stored.shownAsText() && stored.sizeBytes() <= TEXT_BYTES) {
            yield new String(content.read(0, (int) TEXT_BYTES), StandardCharsets.UTF_8);
          }
          files.store(stored.file(), task.id(), stream, content.open(0));
          yield BsonForm.id(stored.file());
        }
      };
    }
  }

  @Override
  public void close() {
    connection.close();
  }
}
