package io.millrace.mongo;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.InsertManyOptions;
import com.mongodb.client.model.ReturnDocument;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.QueueBackend.Submitted;
import io.millrace.queues.QueueBackend.Terms;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueueTask.Place;
import io.millrace.queues.QueueTask.Progress;
import io.millrace.queues.QueueTask.Retries;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.QueuesException.TaskStateException;
import io.millrace.queues.QueuesException.UnreachableException;
import io.millrace.queues.Status;
import io.millrace.queues.plugin.PluginFolder;
import io.millrace.queues.search.SearchOptions;
import io.millrace.queues.search.SearchOptions.SortKey;
import io.millrace.queues.search.TaskFinder;
import io.millrace.work.filter.Filter;
import io.millrace.work.policy.Deadlines;
import io.millrace.work.policy.Policy;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.bson.BSONException;
import org.bson.Document;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The tasks in {@code tasks}: finds, creates and changes them. */
final class MongoTasks implements QueueBackend.Tasks, QueueBackend.Submission, TaskFinder {
  /** Longer outputs are read when they are shown. */
  private static final int SHORT_CHARS = 4096;

  /** So few that the outputs of a page of answers do not fill the memory. */
  private static final int READ_AT_ONCE = 10;

  private static final int CREATED_AT_ONCE = 1_000;
  private static final FindOneAndUpdateOptions AFTER =
      new FindOneAndUpdateOptions().returnDocument(ReturnDocument.AFTER);

  private final MongoConnection connection;
  private final GridFiles files;
  private final MongoDefinitions queues;
  private final MongoNodes nodes;
  private final InstantSource clock;

  MongoTasks(
      MongoConnection connection,
      GridFiles files,
      MongoDefinitions queues,
      MongoNodes nodes,
      InstantSource clock) {
    this.connection = connection;
    this.files = files;
    this.queues = queues;
    this.nodes = nodes;
    this.clock = clock;
  }

  private MongoCollection<Document> tasks() {
    return connection.collection("tasks");
  }

  static Document byId(ObjectId id) {
    return new Document("_id", BsonForm.id(id));
  }

  /** The document of a task; null if there is none. */
  @Nullable Document read(ObjectId id) {
    return connection.call(() -> tasks().find(byId(id)).first());
  }

  @Override
  public Optional<QueueTask> find(ObjectId id) {
    Document document = read(id);
    return document == null ? Optional.empty() : task(document);
  }

  /** A task; empty if the document is none. */
  Optional<QueueTask> task(Document document) {
    return task(document, files.lengths(files(document)));
  }

  /** The files to which a document refers. */
  static List<ObjectId> files(Document document) {
    List<ObjectId> ids = new ArrayList<>();
    for (String stream : new String[] {"stdout", "stderr"}) {
      if (document.get(stream) instanceof org.bson.types.ObjectId file) {
        ids.add(BsonForm.id(file));
      }
    }
    return ids;
  }

  private static Optional<QueueTask> task(Document document, Map<ObjectId, Long> lengths) {
    if (!(document.get("_id") instanceof org.bson.types.ObjectId id)
        || !(document.get("queue") instanceof org.bson.types.ObjectId queue)) {
      return Optional.empty();
    }
    ObjectNode params =
        document.get("params") instanceof Document object
            ? BsonForm.json(object)
            : JsonNodeFactory.instance.objectNode();
    long ctime = BsonForm.millis(document.get("ctime"));
    Progress progress =
        new Progress(
            BsonForm.integer(document, "status", Status.BLOCKED),
            BsonForm.text(document, "node"),
            BsonForm.millis(document.get("mtime")),
            null,
            0,
            Retries.NONE,
            null,
            Deadlines.NONE);
    TaskOutput output =
        new TaskOutput(
            output(BsonForm.id(id), "stdout", document, lengths),
            output(BsonForm.id(id), "stderr", document, lengths));
    return Optional.of(
        new QueueTask(
            BsonForm.id(id),
            BsonForm.id(queue),
            params,
            null,
            null,
            ctime,
            Policy.NONE,
            progress,
            output,
            new Place(0, 0)));
  }

  /** Long text is a file of the task itself, whose prefix names the field. */
  private static Output output(
      ObjectId task, String stream, Document document, Map<ObjectId, Long> lengths) {
    return switch (document.get(stream)) {
      case null -> Output.none();
      case org.bson.types.ObjectId file -> {
        ObjectId id = BsonForm.id(file);
        yield new Output.Stored(id, lengths.getOrDefault(id, 0L), false);
      }
      case String text when text.length() > SHORT_CHARS ->
          new Output.Stored(task, bytes(text), true, stream);
      case Object text -> new Output.Text(text.toString());
    };
  }

  private static long bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8).length;
  }

  @Override
  public Optional<QueueTask> hold(ObjectId id, int status, String reason) {
    if (!Status.isHeld(status)) {
      throw new InvalidRequestException(
          "status", "a task is held by a negative status, not -1, -2");
    }
    if (!reason.isEmpty()) {
      throw new InvalidRequestException("reason", "tasks in MongoDB have no reason");
    }
    return change(id, new Document("$lte", Status.QUEUED), held(status), AFTER)
        .or(() -> refused(id));
  }

  private static Document held(int status) {
    return set(new Document("status", status));
  }

  /** An update of these fields, and of {@code mtime} by the clock of the server. */
  static Document set(Document fields) {
    return new Document("$set", fields).append("$currentDate", new Document("mtime", true));
  }

  private Optional<QueueTask> change(
      ObjectId id, Document status, Document update, FindOneAndUpdateOptions options) {
    Document found =
        connection.call(
            () -> tasks().findOneAndUpdate(byId(id).append("status", status), update, options));
    return found == null ? Optional.empty() : task(found);
  }

  /** Why a task was not changed; empty if it does not exist. */
  private Optional<QueueTask> refused(ObjectId id) {
    return find(id)
        .map(task -> {
          throw new TaskStateException(
              "task %s %s"
                  .formatted(
                      id,
                      Status.isFinished(task.status())
                          ? "has finished"
                          : "is " + Status.name(task.status())));
        });
  }

  @Override
  public Optional<QueueTask> requeue(ObjectId id) {
    Document update =
        set(
            new Document("status", Status.QUEUED)
                .append("node", null)
                .append("stdout", null)
                .append("stderr", null));
    Document states =
        byId(id)
            // One that has moved to a store would run twice.
            .append(MongoMove.MARK, new Document("$exists", false))
            .append(
                "$or",
                List.of(
                    new Document("status", new Document("$lt", Status.QUEUED)),
                    new Document("status", new Document("$gt", Status.RUNNING))));
    Document old = connection.call(() -> tasks().findOneAndUpdate(states, update));
    if (old == null) {
      return refused(id);
    }
    files.delete(files(old));
    return find(id);
  }

  /**
   * A task that is claimed or running is terminated if its node is one of ours, which sees that and
   * kills the work, or is dead. A runner of Disbatch would go on and overwrite the status.
   */
  @Override
  public Optional<QueueTask> terminate(ObjectId id) {
    Optional<QueueTask> task = find(id);
    if (task.isEmpty() || !Status.isActive(task.get().status())) {
      return task.isEmpty()
          ? task
          : change(id, new Document("$lte", Status.QUEUED), held(Status.TERMINATED), AFTER)
              .or(() -> refused(id));
    }
    String node = String.valueOf(task.get().progress().node());
    Optional<NodeRecord> runs = nodes.find(node);
    boolean foreign =
        runs.filter(it -> it.stateAt(clock.millis()) == NodeRecord.State.ALIVE)
            .map(NodeRecord::presence)
            .filter(it -> it.instance().isEmpty())
            .isPresent();
    if (foreign) {
      throw new TaskStateException(
          "task %s runs on node %s of another program, which does not end tasks on request"
              .formatted(id, node));
    }
    Document running = byId(id).append("status", task.get().status()).append("node", node);
    Document ended =
        connection.call(() -> tasks().findOneAndUpdate(running, held(Status.TERMINATED), AFTER));
    return ended == null ? terminate(id) : task(ended);
  }

  @Override
  public void submit(
      Queue queue, List<ObjectNode> params, Terms terms, Consumer<List<Submitted>> created) {
    if (!terms.delay().isZero() || terms.at() != null) {
      throw new InvalidRequestException(
          terms.at() == null ? "delay" : "at", "tasks in MongoDB cannot be delayed");
    }
    if (!terms.policy().isEmpty()) {
      throw MongoDefinitions.notKept(terms.policy().fields().keySet().iterator().next());
    }
    if (queues.find(queue.id()).isEmpty()) {
      throw new InvalidRequestException("queue", "queue not found");
    }
    List<Document> documents = new ArrayList<>();
    for (ObjectNode each : params) {
      PluginFolder.ofBuiltIn(queue.plugin())
          .flatMap(declared -> declared.problem(queue.plugin(), each, _ -> false))
          .ifPresent(problem -> {
            throw new InvalidRequestException("params", problem);
          });
      Date now = Date.from(Instant.ofEpochMilli(clock.millis()));
      documents.add(
          new Document("_id", new org.bson.types.ObjectId())
              .append("queue", BsonForm.id(queue.id()))
              .append("ctime", now)
              .append("mtime", now)
              .append("node", null)
              .append("status", terms.status())
              .append("params", BsonForm.document(each, "params"))
              .append("stdout", null)
              .append("stderr", null));
    }
    for (int from = 0; from < documents.size(); from += CREATED_AT_ONCE) {
      List<Document> some =
          documents.subList(from, Math.min(documents.size(), from + CREATED_AT_ONCE));
      insert(some);
      created.accept(
          some.stream()
              .map(each -> new Submitted(BsonForm.id(each.getObjectId("_id")), false))
              .toList());
    }
  }

  private void insert(List<Document> some) {
    try {
      connection.call(() -> tasks().insertMany(some, new InsertManyOptions().ordered(true)));
    } catch (BSONException e) {
      throw new InvalidRequestException(
          "params", "MongoDB does not take a task of this size: " + e.getMessage());
    } catch (UnreachableException e) {
      if (e.getCause() instanceof MongoBulkWriteException refused
          && !refused.getWriteErrors().isEmpty()) {
        throw new InvalidRequestException(
            "params",
            "MongoDB does not take a task: " + refused.getWriteErrors().getFirst().getMessage());
      }
      throw e;
    }
  }

  @Override
  public List<Found> find(Filter filter, SearchOptions options, boolean everywhere) {
    Document sort = new Document();
    for (SortKey key : options.sort()) {
      sort.append(key.path().dotted(), key.descending() ? -1 : 1);
    }
    sort.putIfAbsent("_id", 1);
    Document query = BsonForm.query(filter);
    List<Found> found = new ArrayList<>();
    connection.call(() -> {
      found.clear();
      tasks()
          .find(query)
          .sort(sort)
          .skip(options.skip())
          .limit(options.limit())
          .batchSize(READ_AT_ONCE)
          .forEach(
              each -> task(each, Map.of()).ifPresent(task -> found.add(new Found(task, false))));
      return found;
    });
    return withLengths(found);
  }

  /** With the lengths of all files, which are read together. */
  private List<Found> withLengths(List<Found> found) {
    List<ObjectId> ids = new ArrayList<>();
    for (Found each : found) {
      for (Output output : List.of(each.task().output().stdout(), each.task().output().stderr())) {
        if (output instanceof Output.Stored stored && !stored.shownAsText()) {
          ids.add(stored.file());
        }
      }
    }
    if (ids.isEmpty()) {
      return found;
    }
    Map<ObjectId, Long> lengths = files.lengths(ids);
    return found.stream().map(each -> new Found(with(each.task(), lengths), false)).toList();
  }

  private static QueueTask with(QueueTask task, Map<ObjectId, Long> lengths) {
    TaskOutput output =
        new TaskOutput(
            with(task.output().stdout(), lengths), with(task.output().stderr(), lengths));
    return new QueueTask(
        task.id(),
        task.queue(),
        task.params(),
        task.scheduled(),
        task.trace(),
        task.ctimeMillis(),
        task.policy(),
        task.progress(),
        output,
        task.place());
  }

  private static Output with(Output output, Map<ObjectId, Long> lengths) {
    return output instanceof Output.Stored stored && lengths.containsKey(stored.file())
        ? new Output.Stored(stored.file(), lengths.get(stored.file()), false)
        : output;
  }

  @Override
  public long count(Filter filter, boolean everywhere) {
    Document query = BsonForm.query(filter);
    return connection.call(() -> tasks().countDocuments(query));
  }

  /** Those of these tasks that exist. */
  Map<ObjectId, QueueTask> all(Collection<ObjectId> ids) {
    Map<ObjectId, QueueTask> found = new HashMap<>();
    Document named = new Document("_id", new Document("$in", BsonForm.ids(ids)));
    connection.call(() -> {
      tasks()
          .find(named)
          .projection(new Document("stdout", 0).append("stderr", 0).append("params", 0))
          .forEach(each -> task(each, Map.of()).ifPresent(task -> found.put(task.id(), task)));
      return found;
    });
    return found;
  }
}
