package io.millrace.queues;

import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.TaskRef;
import io.millrace.work.policy.Deadlines;
import io.millrace.work.policy.EndedAttempt;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.UniqueKey;
import io.millrace.work.trace.SpanRecorder;
import io.millrace.work.trace.TraceContext;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * A queue task as it is stored.
 *
 * @param id its id
 * @param queue its queue, which never changes
 * @param params its parameters; not to be changed
 * @param scheduled the schedule that created it; null for none
 * @param trace the span to which it belongs; null for none
 * @param ctimeMillis when it was created, in milliseconds since the epoch
 * @param policy its settings about retries; those that are absent are its queue's
 * @param progress its status and history
 * @param output its output, once it has ended
 * @param place its place in the store; its kernel task is named by origin
 */
public record QueueTask(
    ObjectId id,
    ObjectId queue,
    ObjectNode params,
    @Nullable Scheduled scheduled,
    @Nullable TraceContext trace,
    long ctimeMillis,
    Policy policy,
    Progress progress,
    TaskOutput output,
    Place place) {
  /** The kind of work in the names of the spans of its attempts. */
  public static final String SPAN_KIND = "task";

  /** Its status code, see {@link Status}. */
  public int status() {
    return progress.status();
  }

  /** The same with another status and history. */
  public QueueTask with(Progress changed) {
    return new QueueTask(
        id, queue, params, scheduled, trace, ctimeMillis, policy, changed, output, place);
  }

  /** The same with another version of its document. */
  public QueueTask at(long version) {
    Place changed = new Place(place.task(), version);
    return new QueueTask(
        id, queue, params, scheduled, trace, ctimeMillis, policy, progress, output, changed);
  }

  /** The same in another queue. */
  public QueueTask in(ObjectId other) {
    return new QueueTask(
        id, other, params, scheduled, trace, ctimeMillis, policy, progress, output, place);
  }

  /** The same as the run of a schedule. */
  public QueueTask with(Scheduled run) {
    return new QueueTask(
        id, queue, params, run, trace, ctimeMillis, policy, progress, output, place);
  }

  /** The same in a trace; null for none. */
  public QueueTask with(@Nullable TraceContext parent) {
    return new QueueTask(
        id, queue, params, scheduled, parent, ctimeMillis, policy, progress, output, place);
  }

  /**
   * The span of an attempt at it.
   *
   * @param token the fencing token of the attempt
   * @return null if it belongs to no trace
   */
  public @Nullable TraceContext span(long token) {
    return trace == null ? null : trace.attempt(SpanRecorder.name(SPAN_KIND, id.hex()), token);
  }

  /** The same with another output. */
  public QueueTask with(TaskOutput written) {
    return new QueueTask(
        id, queue, params, scheduled, trace, ctimeMillis, policy, progress, written, place);
  }

  /**
   * The document of a task.
   *
   * @param added the local name of the kernel task that the same transaction adds; null if the task
   *     keeps its own
   */
  public static Bytes write(QueueTask task, @Nullable String added) {
    try (Json.DocumentWriter writer = Json.writer()) {
      return write(task, added, writer);
    }
  }

  /** The same for one of many tasks. */
  public static Bytes write(QueueTask task, @Nullable String added, Json.DocumentWriter writer) {
    return writer.write(json -> TaskJson.write(json, task, added));
  }

  /** Reads the output of {@link #write(QueueTask, String)}. */
  public static QueueTask read(Document document) {
    return read(new ObjectId(document.key().key()), Json.read(document.body()), document.version());
  }

  /**
   * The task of this id.
   *
   * @param version of its document
   */
  public static QueueTask read(ObjectId id, ObjectNode json, long version) {
    return TaskJson.read(id, json, version);
  }

  /**
   * The run of a schedule that a task is.
   *
   * @param name the name of the schedule
   * @param nominalMillis the time of the run by the schedule, in milliseconds since the epoch
   * @param startedMillis when the schedule created the task, in milliseconds since the epoch
   */
  public record Scheduled(String name, long nominalMillis, long startedMillis) {}

  /**
   * The status and history of a queue task.
   *
   * @param status its status code, see {@link Status}
   * @param node the node on which it runs or ran; null while no node has claimed it
   * @param mtimeMillis when it last changed, in milliseconds since the epoch
   * @param reason the reason for this status, if it needs one; otherwise null
   * @param orphaned how often it was orphaned and queued again
   * @param retries its attempts that have failed
   * @param hold the unique key that it holds; null for none
   * @param deadlines when it is over time
   */
  public record Progress(
      int status,
      @Nullable String node,
      long mtimeMillis,
      @Nullable String reason,
      int orphaned,
      Retries retries,
      @Nullable Hold hold,
      Deadlines deadlines) {

    /** The same with another unique key; null for none. */
    public Progress with(@Nullable Hold other) {
      return new Progress(status, node, mtimeMillis, reason, orphaned, retries, other, deadlines);
    }

    /** The same with other attempts. */
    public Progress with(Retries other) {
      return new Progress(status, node, mtimeMillis, reason, orphaned, other, hold, deadlines);
    }

    /** The same with other deadlines. */
    public Progress with(Deadlines other) {
      return new Progress(status, node, mtimeMillis, reason, orphaned, retries, hold, other);
    }

    /** A new task that no node has claimed. */
    public static Progress first(int status, long nowMillis) {
      return new Progress(status, null, nowMillis, null, 0, Retries.NONE, null, Deadlines.NONE);
    }

    /** The same, to be claimed at this time at the earliest. */
    public Progress notBefore(long millis) {
      return new Progress(
          status, node, mtimeMillis, reason, orphaned, retries.at(millis), hold, deadlines);
    }

    /** The same at another time. */
    public Progress changedAt(long nowMillis) {
      return new Progress(status, node, nowMillis, reason, orphaned, retries, hold, deadlines);
    }

    /** The same for a task that waits for its next attempt. */
    public Progress waiting() {
      return with(deadlines.waiting(Math.max(mtimeMillis, retries.notBeforeMillis())));
    }

    /** The same after more attempts, queued and not on any node. */
    public Progress queued(long nowMillis, @Nullable String why, int orphans, Retries more) {
      return new Progress(
          Status.QUEUED, null, nowMillis, why, orphans, more.started(0), hold, deadlines);
    }

    /** The same with another status; {@code why} is null if that has no reason. */
    public Progress to(int next, long nowMillis, @Nullable String why) {
      return new Progress(next, node, nowMillis, why, orphaned, retries.at(0), hold, deadlines);
    }

    /** The same with another status on a node. */
    public Progress on(String claimer, int next, long nowMillis) {
      Retries now = retries.at(0).started(next == Status.RUNNING ? nowMillis : 0);
      return new Progress(next, claimer, nowMillis, null, orphaned, now, hold, deadlines);
    }

    /**
     * How many attempts it has had, the one under way included. Starts that were orphaned or that
     * snoozed are not counted.
     */
    public int attempt() {
      boolean more =
          Status.isActive(status) || status == Status.SUCCEEDED || status > Status.FAILED;
      return retries.failed() + (more ? 1 : 0);
    }

    /** For how long it could not be claimed when it was queued. */
    public Duration delay() {
      return Duration.ofMillis(Math.max(0, retries.notBeforeMillis() - mtimeMillis));
    }
  }

  /**
   * A unique key that a task holds until its status leaves the scope.
   *
   * @param hash stands for the key
   * @param scope in which states it is held
   */
  public record Hold(String hash, UniqueKey.Scope scope) {}

  /**
   * The attempts of a queue task so far.
   *
   * @param failed how many have failed
   * @param snoozed how often it was put off at its own request
   * @param notBeforeMillis when it can be claimed while it is queued, in milliseconds since the
   *     epoch; 0 for at once
   * @param token the fencing token of the last attempt after which it was queued again, by which a
   *     repeated report is recognized; 0 for none
   * @param startedMillis when the attempt under way or the last one started, in milliseconds since
   *     the epoch; 0 if none has started since it was claimed or queued last
   * @param ended the attempts that did not succeed, and those before it was queued again by hand,
   *     the oldest first; as many as are remembered
   */
  public record Retries(
      int failed,
      int snoozed,
      long notBeforeMillis,
      long token,
      long startedMillis,
      List<EndedAttempt> ended) {
    /** None yet. */
    public static final Retries NONE = new Retries(0, 0, 0, 0, 0, List.of());

    public Retries {
      ended = List.copyOf(ended);
    }

    /** The same, to be claimed at this time; 0 for at once. */
    public Retries at(long millis) {
      return millis == notBeforeMillis
          ? this
          : new Retries(failed, snoozed, millis, token, startedMillis, ended);
    }

    /** The same with an attempt that started at this time; 0 for none. */
    public Retries started(long millis) {
      return millis == startedMillis
          ? this
          : new Retries(failed, snoozed, notBeforeMillis, token, millis, ended);
    }

    /** The same with these attempts that have ended. */
    public Retries with(List<EndedAttempt> attempts) {
      return new Retries(failed, snoozed, notBeforeMillis, token, startedMillis, attempts);
    }
  }

  /**
   * The outputs of a queue task.
   *
   * @param stdout standard output
   * @param stderr standard error
   * @param mixed both in order of arrival, if the task asked for it; otherwise nothing
   */
  public record TaskOutput(Output stdout, Output stderr, Output mixed) {
    /** No output yet. */
    public static final TaskOutput NONE = new TaskOutput(Output.none(), Output.none());

    /** What the names of the chunks of files without documents begin with. */
    public List<String> chunkPrefixes() {
      return Stream.of(stdout, stderr, mixed)
          .map(each -> each instanceof Output.Stored stored ? stored.chunkPrefix() : null)
          .filter(Objects::nonNull)
          .toList();
    }

    /** Without the mixed output. */
    public TaskOutput(Output stdout, Output stderr) {
      this(stdout, stderr, Output.none());
    }
  }

  /**
   * The place of something in the store: a kernel task and a document.
   *
   * @param task the kernel task. For a queue or node its id; the task is replaced whenever a
   *     setting changes, so that claims can depend on it. For a queue task its origin
   * @param version the version of the document
   */
  public record Place(long task, long version) {
    /** The kernel task of a queue or node. */
    public TaskRef byId() {
      return TaskRef.id(task);
    }

    /** The kernel task of a queue task. */
    public TaskRef byOrigin() {
      return TaskRef.origin(task);
    }
  }
}
