package io.millrace.mongo;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.ReturnDocument;
import io.millrace.blobs.BlobStore;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output.OutputFile;
import io.millrace.queues.Output.OutputRecovery;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueuesException.LostClaimException;
import io.millrace.queues.QueuesException.UnreachableException;
import io.millrace.queues.Run;
import io.millrace.queues.Run.Report;
import io.millrace.queues.Run.RetryWish;
import io.millrace.queues.Run.Started;
import io.millrace.queues.Status;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.bson.BSONException;
import org.bson.Document;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claimed and running tasks. What differs from a task store:
 *
 * <ul>
 *   <li>The limit {@code threads} and the claim are two steps. A node counts, claims, and counts
 *       again: what it claimed beyond the limit it gives back before it hands it to a runner, by an
 *       order in which all nodes of ours agree, the times of the claims by the clock of the server.
 *       So nodes of ours together keep the limit. Each node of Disbatch that claims between count
 *       and claim may exceed it by what it claims in one round.
 *   <li>A claim has no lease: nobody takes a task that runs away from its runner, however long the
 *       runner cannot reach the database. A task whose runner is gone with its machine stays at 0
 *       until its node starts again.
 * </ul>
 */
final class MongoRuns implements QueueBackend.Runs {
  private static final Logger LOG = LoggerFactory.getLogger(MongoRuns.class);

  /** How long a task may stay claimed and not be begun. */
  static final Duration UNBEGUN = Duration.ofMinutes(5);

  private static final FindOneAndUpdateOptions AFTER =
      new FindOneAndUpdateOptions().returnDocument(ReturnDocument.AFTER);
  private static final Document ACTIVE =
      new Document("$in", List.of(Status.CLAIMED, Status.RUNNING));

  /** How many claims of this process are remembered, to tell those whose answer was lost. */
  private static final int REMEMBERED = 10_000;

  private final MongoConnection connection;
  private final MongoTasks tasks;
  private final GridFiles files;
  private final @Nullable BlobStore blobs;
  private final InstantSource clock;
  private final String process;
  private final Map<ObjectId, Run.Claim> remembered = new LinkedHashMap<>();

  /**
   * The runs of a database.
   *
   * @param blobs where runners of this process have their output; null for none
   * @param process the identity of the process, for runs that are recorded as running: a node takes
   *     those under its name to be of this machine
   */
  MongoRuns(
      MongoConnection connection,
      MongoTasks tasks,
      GridFiles files,
      @Nullable BlobStore blobs,
      InstantSource clock,
      String process) {
    this.connection = connection;
    this.tasks = tasks;
    this.files = files;
    this.blobs = blobs;
    this.clock = clock;
    this.process = process;
  }

  private MongoCollection<Document> collection() {
    return connection.collection("tasks");
  }

  private Optional<Run> run(@Nullable Document document) {
    if (document == null
        || !(document.get("_id") instanceof org.bson.types.ObjectId id)
        || !(document.get("queue") instanceof org.bson.types.ObjectId queue)) {
      return Optional.empty();
    }
    int status = BsonForm.integer(document, "status", Status.QUEUED);
    String node = BsonForm.text(document, "node");
    long mtime = BsonForm.millis(document.get("mtime"));
    return node == null || !Status.isActive(status)
        ? Optional.empty()
        : Optional.of(
            new Run(
                BsonForm.id(id),
                BsonForm.id(queue),
                node,
                new Run.Claim(0, 0, mtime),
                status,
                status == Status.RUNNING ? process : null,
                mtime,
                0,
                0,
                null));
  }

  @Override
  public List<Run> claim(
      NodeRecord node, Queue queue, int most, Duration lease, OutputRecovery recovery) {
    int limit = queue.settings().limit();
    Document active = new Document("queue", BsonForm.id(queue.id())).append("status", ACTIVE);
    long running = connection.call(() -> collection().countDocuments(active));
    long wanted = Math.min(most, limit - running);
    List<Run> claimed = new ArrayList<>();
    while (claimed.size() < wanted) {
      Optional<Run> next = claimOne(node.name(), queue);
      if (next.isEmpty()) {
        break;
      }
      claimed.add(next.get());
    }
    return claimed.isEmpty() ? claimed : withinLimit(claimed, active, limit);
  }

  private Optional<Run> claimOne(String node, Queue queue) {
    Document filter =
        new Document("node", null)
            .append("status", Status.QUEUED)
            .append("queue", BsonForm.id(queue.id()));
    Document update = MongoTasks.set(new Document("node", node).append("status", Status.CLAIMED));
    FindOneAndUpdateOptions options =
        new FindOneAndUpdateOptions().returnDocument(ReturnDocument.AFTER);
    switch (queue.settings().sort()) {
      case FIFO -> options.sort(new Document("_id", 1));
      case LIFO -> options.sort(new Document("_id", -1));
      case DEFAULT -> {}
    }
    Optional<Run> run;
    try {
      run = run(collection().findOneAndUpdate(filter, update, options));
    } catch (MongoCommandException e) {
      throw MongoConnection.failed(e);
    } catch (MongoException e) {
      LOG.debug("the answer to a claim was lost", e);
      run = lostAnswer(node, queue);
    }
    run.ifPresent(this::remember);
    return run;
  }

  /**
   * A task that this node has claimed although it did not hear so. Only this process claims under
   * its name.
   */
  private Optional<Run> lostAnswer(String node, Queue queue) {
    Document ours =
        new Document("node", node)
            .append("status", Status.CLAIMED)
            .append("queue", BsonForm.id(queue.id()));
    return connection.call(() -> {
      for (Document each : collection().find(ours)) {
        Optional<Run> run = run(each).filter(it -> !isRemembered(it));
        if (run.isPresent()) {
          return run;
        }
      }
      return Optional.empty();
    });
  }

  private synchronized void remember(Run run) {
    remembered.put(run.task(), run.claim());
    if (remembered.size() > REMEMBERED) {
      remembered.remove(remembered.keySet().iterator().next());
    }
  }

  private synchronized boolean isRemembered(Run run) {
    return run.claim().equals(remembered.get(run.task()));
  }

  /** Gives back what is beyond the limit, the last claims first; returns the others. */
  private List<Run> withinLimit(List<Run> claimed, Document active, int limit) {
    List<Document> all =
        connection.call(() ->
            collection()
                .find(active)
                .projection(new Document("status", 1).append("mtime", 1))
                .into(new ArrayList<>()));
    if (all.size() <= limit) {
      return claimed;
    }
    Set<ObjectId> own = new HashSet<>();
    claimed.forEach(run -> own.add(run.task()));
    List<Run> kept = new ArrayList<>();
    for (Run run : claimed) {
      long before =
          all.stream()
              .filter(other ->
                  other.get("_id") instanceof org.bson.types.ObjectId id
                      && !own.contains(BsonForm.id(id)))
              // At the same time counts as before: then neither of two nodes keeps its claim.
              .filter(other ->
                  BsonForm.integer(other, "status", 0) == Status.RUNNING
                      || BsonForm.millis(other.get("mtime")) <= run.claim().token())
              .count();
      if (before + kept.size() < limit) {
        kept.add(run);
      } else {
        LOG.debug("task {} is given back: its queue has {} others running", run.task(), before);
        var _ = giveBack(run);
      }
    }
    return kept;
  }

  @Override
  public List<Run> ofNode(String node) {
    Document filter = new Document("node", node).append("status", ACTIVE);
    return connection.call(() -> {
      List<Run> runs = new ArrayList<>();
      for (Document each : collection().find(filter)) {
        run(each).ifPresent(runs::add);
      }
      return runs;
    });
  }

  @Override
  public Optional<Run> find(ObjectId task) {
    return run(tasks.read(task));
  }

  @Override
  public boolean isToStop(ObjectId task) {
    Document document = tasks.read(task);
    return document != null && BsonForm.integer(document, "status", 0) == Status.TERMINATED;
  }

  /** The task while it has the claim of a run. */
  private static Document claimed(Run run, Object status) {
    return MongoTasks.byId(run.task())
        .append("node", run.node())
        // Within the millisecond: a server may keep more than it tells.
        .append(
            "mtime",
            new Document("$gte", Date.from(Instant.ofEpochMilli(run.claim().token())))
                .append("$lt", Date.from(Instant.ofEpochMilli(run.claim().token() + 1))))
        .append("status", status);
  }

  @Override
  public Started begin(Run run, String runner, Duration lease) {
    Document begin = new Document("$set", new Document("status", Status.RUNNING));
    Document begun =
        connection.call(
            () -> collection().findOneAndUpdate(claimed(run, Status.CLAIMED), begin, AFTER));
    if (begun == null) {
      // Only one runner gets a claim, so if the task runs under it, the answer was lost.
      begun = connection.call(() -> collection().find(claimed(run, Status.RUNNING)).first());
    }
    Optional<Run> started = run(begun);
    if (begun == null || started.isEmpty()) {
      throw lost(run);
    }
    return new Started(started.get(), tasks.task(begun).orElseThrow());
  }

  private static LostClaimException lost(Run run) {
    return new LostClaimException(
        "task %s is no longer claimed by node %s as it was".formatted(run.task(), run.node()));
  }

  /** Only looks whether the task is still this run's; that it cannot look does not end the work. */
  @Override
  public void renew(Run run, Duration lease) {
    Document now;
    try {
      now = tasks.read(run.task());
    } catch (UnreachableException e) {
      LOG.debug("task {} runs on while the database is away", run.task(), e);
      return;
    }
    boolean terminated =
        now != null
            && BsonForm.integer(now, "status", 0) == Status.TERMINATED
            && run.node().equals(BsonForm.text(now, "node"));
    if (!terminated && run(now).filter(it -> it.claim().equals(run.claim())).isEmpty()) {
      throw lost(run);
    }
  }

  @Override
  public QueueTask finish(Started started, Report report) {
    Run run = started.run();
    if (report.wish() instanceof RetryWish.Snooze) {
      Report refused =
          new Report(
              Status.FAILED,
              report.output(),
              report.files(),
              "it asked to be put off, and tasks in MongoDB cannot be delayed");
      return finish(run, refused, Status.RUNNING);
    }
    return finish(run, report, Status.RUNNING);
  }

  private QueueTask finish(Run run, Report report, Object from) {
    OutputFields fields = new OutputFields(files, blobs, run, report);
    Document ended;
    try {
      ended = store(run, from, report.status(), fields.asText());
    } catch (TooLargeException e) {
      LOG.debug("the outputs of task {} do not fit into it", run.task(), e);
      ended = store(run, from, report.status(), fields.asFiles());
    }
    if (ended == null) {
      ended = endedBefore(run, report, fields);
    }
    if (ended == null) {
      fields.deleteFiles();
      throw lost(run);
    }
    if (blobs != null) {
      // The node's own copies, which were needed until now.
      for (OutputFile file : report.files()) {
        file.content(blobs).chunks(file.sizeBytes()).forEach(blobs::delete);
      }
    }
    return tasks.task(ended).orElseThrow();
  }

  /** A document would be larger than the server takes. */
  private static final class TooLargeException extends RuntimeException {
    private static final long serialVersionUID = 1;

    TooLargeException(Exception cause) {
      super(cause);
    }
  }

  /**
   * Null if the claim is lost.
   *
   * @throws TooLargeException if the task would be too large
   */
  private @Nullable Document store(Run run, Object from, int status, Document outputs) {
    try {
      Document update = MongoTasks.set(new Document("status", status));
      update.get("$set", Document.class).putAll(outputs);
      return connection.call(
          () -> collection().findOneAndUpdate(claimed(run, from), update, AFTER));
    } catch (BSONException e) {
      throw new TooLargeException(e);
    } catch (UnreachableException e) {
      if (e.getCause() instanceof MongoCommandException refused && isTooLarge(refused)) {
        throw new TooLargeException(e);
      }
      throw e;
    }
  }

  private static boolean isTooLarge(MongoCommandException refused) {
    // BSONObjectTooLarge, and its code in older servers.
    return refused.getErrorCode() == 10334 || refused.getErrorCode() == 17419;
  }

  /** The task as this report left it before its answer was lost, or as an operator ended it. */
  private @Nullable Document endedBefore(Run run, Report report, OutputFields fields) {
    Document now = tasks.read(run.task());
    if (now == null || !run.node().equals(BsonForm.text(now, "node"))) {
      return null;
    }
    int status = BsonForm.integer(now, "status", 0);
    boolean same =
        status == report.status()
            && (fields.describes(now) || (Status.isHeld(status) && fields.isEmpty()));
    if (same) {
      return now;
    }
    if (status != Status.TERMINATED) {
      return null;
    }
    Document terminated =
        MongoTasks.byId(run.task())
            .append("node", run.node())
            .append("status", Status.TERMINATED)
            .append("stdout", null)
            .append("stderr", null);
    Document update = new Document("$set", fields.asText());
    return connection.call(() -> collection().findOneAndUpdate(terminated, update, AFTER));
  }

  @Override
  public boolean giveBack(Run run) {
    Document update = MongoTasks.set(new Document("status", Status.QUEUED).append("node", null));
    return connection.call(
        () -> collection().updateOne(claimed(run, Status.CLAIMED), update).getModifiedCount() > 0);
  }

  @Override
  public Optional<QueueTask> orphan(Run run, Report report) {
    try {
      QueueTask ended = finish(run, report, ACTIVE);
      LOG.warn("task {} is {}: {}", ended.id(), Status.name(ended.status()), report.reason());
      return Optional.of(ended);
    } catch (LostClaimException _) {
      return Optional.empty();
    }
  }

  /** Orphans the tasks that a node has claimed five minutes ago and not begun. */
  void orphanUnbegun(String node) {
    orphanUnbegun(new Document("node", node), "node " + node);
  }

  /** The same for nodes that have not refreshed their documents for as long, or have none. */
  void orphanUnbegunOfDead(List<Queue> queues, List<NodeRecord> nodes) {
    List<String> live =
        nodes.stream()
            .filter(node -> clock.millis() - node.timestampMillis() < UNBEGUN.toMillis())
            .map(NodeRecord::name)
            .toList();
    List<ObjectId> ids = queues.stream().map(Queue::id).toList();
    orphanUnbegun(
        new Document("queue", new Document("$in", BsonForm.ids(ids)))
            .append("node", new Document("$nin", live)),
        "dead nodes");
  }

  private void orphanUnbegun(Document filter, String whose) {
    Date before = Date.from(Instant.ofEpochMilli(clock.millis() - UNBEGUN.toMillis()));
    filter.append("status", Status.CLAIMED).append("mtime", new Document("$lt", before));
    Document update = MongoTasks.set(new Document("status", Status.ORPHANED));
    long orphaned =
        connection.call(() -> collection().updateMany(filter, update).getModifiedCount());
    if (orphaned > 0) {
      LOG.warn("{} tasks that {} had claimed and not begun are orphaned", orphaned, whose);
    }
  }

  /** Tasks of a node whose end was requested a short time ago. */
  List<ObjectId> toStop(String node) {
    Date since =
        Date.from(Instant.ofEpochMilli(clock.millis() - Duration.ofMinutes(10).toMillis()));
    Document filter =
        new Document("node", node)
            .append("status", Status.TERMINATED)
            .append("mtime", new Document("$gt", since));
    return connection.call(() -> {
      List<ObjectId> ids = new ArrayList<>();
      for (Document each : collection().find(filter).projection(new Document("_id", 1))) {
        if (each.get("_id") instanceof org.bson.types.ObjectId id) {
          ids.add(BsonForm.id(id));
        }
      }
      return ids;
    });
  }
}
