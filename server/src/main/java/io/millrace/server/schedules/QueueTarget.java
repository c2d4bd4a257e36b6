package io.millrace.server.schedules;

import io.millrace.http.Caller.Reach.Area;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueueTask.Scheduled;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.QueuesException.TaskStateException;
import io.millrace.queues.Status;
import io.millrace.queues.registry.Queues;
import io.millrace.queues.registry.TaskArchive;
import io.millrace.queues.registry.TaskRegistry;
import io.millrace.schedules.ScheduleState.Ending;
import io.millrace.schedules.SchedulesException.InvalidScheduleException;
import io.millrace.server.traces.Traces;
import io.millrace.store.DocumentKey;
import io.millrace.store.Transaction;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The target {@code {"queue": NAME, "params": {…}}}: a run is a task of a queue. */
public final class QueueTarget implements LimitedTarget {
  private final Queues queues;
  private final Traces traces;
  private final TaskRegistry tasks;
  private final TaskArchive archive;

  /** Runs tasks of these queues, which end up in the archive. */
  public QueueTarget(Queues queues, TaskArchive archive, Traces traces) {
    this.traces = traces;
    this.queues = queues;
    this.tasks = queues.tasks();
    this.archive = archive;
  }

  @Override
  public String field() {
    return "queue";
  }

  @Override
  public void check(ObjectNode description) {
    for (String field : description.propertyNames()) {
      if (!Set.of("queue", "params").contains(field)) {
        throw new InvalidScheduleException(
            "target." + field, "a target with a queue has the fields queue and params only");
      }
    }
    Queue queue = queue(description);
    try {
      queues.submission().checkKnown(queue, params(description));
    } catch (InvalidRequestException e) {
      throw new InvalidScheduleException("target." + e.field(), String.valueOf(e.getMessage()));
    }
  }

  @Override
  public Scope scope(ObjectNode description) {
    String given = description.path("queue").asString("");
    return new Scope(Area.QUEUES, queues.queues().find(given).map(Queue::name).orElse(given));
  }

  private Queue queue(ObjectNode description) {
    JsonNode name = description.path("queue");
    if (!name.isString()) {
      throw new InvalidScheduleException("target.queue", "queue is the name or id of a queue");
    }
    return queues
        .queues()
        .find(name.asString())
        .orElseThrow(() ->
            new InvalidScheduleException(
                "target.queue", "there is no queue '" + name.asString() + "'"));
  }

  private static ObjectNode params(ObjectNode description) {
    JsonNode params = description.get("params");
    if (params == null) {
      return description.objectNode();
    }
    if (params instanceof ObjectNode object) {
      return object;
    }
    throw new InvalidScheduleException("target.params", "params is an object");
  }

  @Override
  public boolean start(List<Request> runs, ObjectNode description, JointCommit commit) {
    List<Scheduled> scheduled =
        runs.stream()
            .map(run ->
                new Scheduled(
                    run.schedule(), run.nominal().toEpochMilli(), run.started().toEpochMilli()))
            .toList();
    Transaction.Builder transaction = commit.begin();
    List<ObjectId> ids;
    try {
      ids =
          queues
              .submission()
              .submitWith(
                  transaction,
                  queue(description),
                  params(description),
                  scheduled,
                  run -> traces.begin(run.name(), run.startedMillis()));
    } catch (InvalidRequestException e) {
      throw new InvalidScheduleException("target." + e.field(), String.valueOf(e.getMessage()));
    }
    return commit.commit(transaction, ids.stream().map(ObjectId::hex).toList()) != null;
  }

  @Override
  public Optional<End> end(String id) {
    ObjectId task = new ObjectId(id);
    QueueTask found = tasks.find(task).orElse(null);
    if (found == null) {
      found = archive.find(List.of(task)).get(task);
    }
    if (found == null) {
      return Optional.of(new End(Ending.UNKNOWN, "the task was deleted"));
    }
    int status = found.status();
    if (Status.isActive(status) || status == Status.QUEUED) {
      return Optional.empty();
    }
    Ending ending =
        switch (status) {
          case Status.SUCCEEDED -> Ending.SUCCEEDED;
          case Status.CANCELLED, Status.TERMINATED -> Ending.CANCELLED;
          case Status.ORPHANED -> Ending.FAILED;
          // A task that is held back does not keep its schedule waiting.
          default -> Status.isFinished(status) ? Ending.FAILED : Ending.CANCELLED;
        };
    String reason = found.progress().reason();
    boolean says = reason != null || ending == Ending.SUCCEEDED;
    return Optional.of(new End(ending, says ? reason : Status.name(status)));
  }

  @Override
  public void cancel(String id) {
    try {
      var _ = tasks.terminate(new ObjectId(id));
    } catch (TaskStateException _) {
      // It has ended meanwhile.
    }
  }

  @Override
  public String collection() {
    return TaskRegistry.collection();
  }

  @Override
  public String runOf(DocumentKey key) {
    return key.key();
  }
}
