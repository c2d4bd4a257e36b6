package io.millrace.queues;

import io.millrace.queues.Output.OutputFile;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.Owner;
import io.millrace.store.TaskRef;
import io.millrace.work.policy.RetryPolicy;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * A queue task that is claimed by a node, or running. Each has a document, so that these tasks are
 * found without reading the waiting ones.
 *
 * @param task the queue task
 * @param queue its queue
 * @param node the node that claimed it
 * @param claim the claim in the kernel
 * @param status {@link Status#CLAIMED} or {@link Status#RUNNING}
 * @param runner the identity of the process that runs it, as {@link
 *     io.millrace.processes.ProcessIdentity} writes it; null while there is none
 * @param sinceMillis when it reached its status, in milliseconds since the epoch
 * @param version the version of its document
 * @param timeoutMillis how long its work may take; 0 for any time
 * @param document the document of its task as it was claimed, which saves its runner a read; null
 *     if it is not at hand
 */
public record Run(
    ObjectId task,
    ObjectId queue,
    String node,
    Claim claim,
    int status,
    @Nullable String runner,
    long sinceMillis,
    long version,
    long timeoutMillis,
    @Nullable TaskDocument document) {
  /** The code of the failure of an attempt that took too long. */
  public static final String TIMEOUT_CODE = "timeout";

  /** The same with another document of its task; null for none. */
  public Run with(@Nullable TaskDocument other) {
    return new Run(
        task, queue, node, claim, status, runner, sinceMillis, version, timeoutMillis, other);
  }

  /** The same with another version of its document. */
  public Run at(long changed) {
    return new Run(
        task, queue, node, claim, status, runner, sinceMillis, changed, timeoutMillis, document);
  }

  /** The document of a run. */
  public static Bytes write(Run run) {
    ObjectNode json = Json.object();
    json.put("queue", run.queue().hex());
    json.put("node", run.node());
    json.put("client", run.claim().client());
    json.put("origin", run.claim().origin());
    json.put("token", run.claim().token());
    json.put("status", run.status());
    json.put("runner", run.runner());
    json.put("since", run.sinceMillis());
    if (run.timeoutMillis() > 0) {
      json.put("timeout", run.timeoutMillis());
    }
    return Json.write(json);
  }

  /** Reads the output of {@link #write}. */
  public static Run read(Document document) {
    ObjectNode json = Json.read(document.body());
    return new Run(
        new ObjectId(document.key().key()),
        new ObjectId(json.required("queue").asString()),
        json.required("node").asString(),
        new Claim(
            json.required("client").asLong(),
            json.required("origin").asLong(),
            json.required("token").asLong()),
        json.required("status").asInt(),
        Json.text(json, "runner"),
        json.required("since").asLong(),
        document.version(),
        json.path("timeout").asLong(0),
        null);
  }

  /**
   * The document of a task.
   *
   * @param body what {@link QueueTask#write(QueueTask, String)} has written
   * @param version its version
   */
  public record TaskDocument(Bytes body, long version) {
    /** The longest one that is handed over with a run; a longer one is read where it runs. */
    private static final int MAX_BYTES = 16 << 10;

    /** This document, unless it is too long to be handed over. */
    public static @Nullable TaskDocument of(Document document) {
      return document.body().size() > MAX_BYTES
          ? null
          : new TaskDocument(document.body(), document.version());
    }

    /** The task of this id, of which this is the document. */
    public QueueTask read(ObjectId id) {
      return QueueTask.read(id, Json.read(body), version);
    }
  }

  /**
   * The claim of a run. Code that has it may act for its owner.
   *
   * @param client the client id that owns the kernel task, drawn for this claim alone
   * @param origin the first id of the kernel task
   * @param token the fencing token: larger for a later run of the same task
   */
  public record Claim(long client, long origin, long token) {
    /** The owner of the kernel task while the claim lives. */
    public Owner owner() {
      return Owner.client(client);
    }

    /** The kernel task. */
    public TaskRef ref() {
      return TaskRef.origin(origin);
    }
  }

  /**
   * A run whose work has begun, with its task after the start: all that its end needs, so that a
   * report is one commit if nothing has changed in between.
   *
   * @param run the run, at {@link Status#RUNNING}
   * @param task its task
   */
  public record Started(Run run, QueueTask task) {}

  /**
   * The end of a run.
   *
   * @param status a positive status, or {@link Status#TERMINATED} or {@link Status#ORPHANED}
   * @param output its output
   * @param files the files to which the output refers; their chunks are stored already
   * @param reason the reason for this status, if it needs one; otherwise null
   * @param wish what the work has said about being tried again
   * @param log the end of what it wrote, for the history of its task; null if that is not at hand
   */
  public record Report(
      int status,
      TaskOutput output,
      List<OutputFile> files,
      @Nullable String reason,
      RetryWish wish,
      @Nullable String log) {
    public Report {
      files = List.copyOf(files);
    }

    /** An end without a log. */
    public Report(
        int status,
        TaskOutput output,
        List<OutputFile> files,
        @Nullable String reason,
        RetryWish wish) {
      this(status, output, files, reason, wish, null);
    }

    /** The end of work that has said nothing about being tried again. */
    public Report(int status, TaskOutput output, List<OutputFile> files, @Nullable String reason) {
      this(status, output, files, reason, RetryWish.NONE);
    }
  }

  /** What the work of a run says about being tried again. */
  public sealed interface RetryWish {
    /** Nothing. */
    RetryWish NONE = new IfFailed(RetryPolicy.Failed.UNKNOWN);

    /**
     * How the attempt failed, if it did.
     *
     * @param failed its code, and the pause that it asks for
     */
    record IfFailed(RetryPolicy.Failed failed) implements RetryWish {}

    /**
     * The task is to be queued again, and this start is not to be counted as an attempt.
     *
     * @param delay after which it may be claimed, not negative
     */
    record Snooze(Duration delay) implements RetryWish {}
  }
}
