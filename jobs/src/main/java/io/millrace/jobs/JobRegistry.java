package io.millrace.jobs;

import io.millrace.blobs.Value;
import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.jobs.JobsException.JobStateException;
import io.millrace.jobs.JobsException.JobsFullException;
import io.millrace.jobs.Report.Settled;
import io.millrace.store.TaskStore.DocumentQuery.Order;
import io.millrace.work.DelayedTasks.Delays;
import java.io.InputStream;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The jobs. Every change is one transaction, atomic and durable. Safe for use by any number of
 * threads; the methods block until the store has answered.
 */
public interface JobRegistry {
  /** A new GUID, for a job to be submitted. */
  JobId newId();

  /** What follows the GUID of a job in the name of the blob of its payload. */
  String PAYLOAD_SUFFIX = ".job";

  /** The name of the blob that holds a job's payload if it is too large for the commit. */
  static String payloadName(JobId id) {
    return id + PAYLOAD_SUFFIX;
  }

  /**
   * The name of the blob that holds the result of an attempt if it is too large for the commit.
   * Each attempt has its own, so that a late one never touches an accepted one.
   */
  static String resultName(Assignment assignment) {
    return assignment.job().id() + "." + assignment.claim().token() + ".result";
  }

  /**
   * Checks that a payload or result is part of the commit if it is small enough.
   *
   * @throws IllegalArgumentException if it is a blob though it is small
   */
  static void checkSize(Value value) {
    if (value instanceof Value.Stored stored && stored.size() <= Value.INLINE_LIMIT) {
      throw new IllegalArgumentException(
          "a stored value has more than " + Value.INLINE_LIMIT + " bytes, not " + stored.size());
    }
  }

  /**
   * For how long, by the clock of the server, a submission can be repeated with the same request id
   * without making a second job.
   */
  Duration REQUEST_PERIOD = Duration.ofDays(7);

  /** The most characters of a request id. */
  int MAX_REQUEST = 128;

  /**
   * Submits a job whose payload is kept already.
   *
   * @param payload what {@link Value#keep} made of it under {@link #payloadName}
   * @return the job as it is now; that of an earlier call with the same id and submission, whose
   *     answer was lost. If it has another id, the submission was a duplicate: that job holds the
   *     same unique key or was submitted with the same request id, and the blob is left to the
   *     caller
   * @param request a request id, by which a repeated submission is known; null for none
   * @throws InvalidJobException when the type is unknown or the key is taken; the blob is left to
   *     the caller
   * @throws JobsException.SubmittedBeforeException when the submission is a repeated one and its
   *     job has left the store; the blob is left to the caller
   * @throws JobsFullException when the store has no room
   */
  Job submit(JobId id, Submission submission, Value payload, @Nullable String request);

  /** The same without a request id. */
  default Job submit(JobId id, Submission submission, Value payload) {
    return submit(id, submission, payload, null);
  }

  /**
   * As {@link #submit}, for a caller whose job is never a duplicate: it takes no unique key, not
   * even if the settings of its type say so.
   *
   * @param run the run of a schedule to which it belongs; null for none
   */
  Job submitOnce(JobId id, Submission submission, Value payload, Job.@Nullable Scheduled run);

  /**
   * Submits a job without waiting. It is committed with others once {@link #flush} is called.
   *
   * @param payload small enough to be part of the commit
   * @param request a request id, by which a repeated submission is known; null for none
   * @return the job as it is then, as {@link #submit} returns it; fails with what that throws
   * @throws InvalidJobException when the type is unknown
   */
  CompletableFuture<Job> enqueue(
      JobId id, Submission submission, Value.Inline payload, @Nullable String request);

  /** The same without a request id. */
  default CompletableFuture<Job> enqueue(JobId id, Submission submission, Value.Inline payload) {
    return enqueue(id, submission, payload, null);
  }

  /** Commits everything that was enqueued, on another thread. */
  void flush();

  /** Whether no job has this key now. */
  boolean isFree(String key);

  /** The job with this key or GUID. */
  Optional<Job> find(String keyOrId);

  /**
   * Jobs in the order of their GUIDs, which is that in which their submissions began, or in the
   * opposite order.
   *
   * @param after the GUID of the last one known already; null from the first
   * @param limit the most to give, from 1
   */
  List<Job> list(JobFilter filter, @Nullable JobId after, int limit, Order order);

  /** The same, the oldest first. */
  default List<Job> list(JobFilter filter, @Nullable JobId after, int limit) {
    return list(filter, after, limit, Order.ASCENDING);
  }

  /** The failed attempts at a job, oldest first. */
  List<Failure> failures(JobId id);

  /**
   * The attempts at a job that ended with their workers instead of with a result or failure, oldest
   * first; the info of each says how.
   */
  List<Failure> returns(JobId id);

  /** The payload of a job, to be closed; empty when the job is gone. */
  Optional<InputStream> payload(Job job);

  /** The result of a job, to be closed; empty while it has none, or when the job is gone. */
  Optional<InputStream> result(Job job);

  /** Where everybody can read the payload for a while; empty if there is no such address. */
  Optional<URI> payloadLink(Job job);

  /** Where everybody can read the result for a while; empty if there is no such address. */
  Optional<URI> resultLink(Job job);

  /**
   * Removes a job with its payload, result and history, whatever its status.
   *
   * @return the job as it was; empty when there is none
   */
  Optional<Job> delete(String keyOrId);

  /**
   * Fails a pending or running job for good, at a user's wish.
   *
   * @return the job as it is now; empty when there is none
   * @throws JobStateException when it has ended already
   */
  Optional<Job> cancel(String keyOrId);

  /**
   * Offers a failed job again, and counts its failures from zero; its history stays.
   *
   * @return the job as it is now; empty when there is none
   * @throws JobStateException when it has not failed
   */
  Optional<Job> retry(String keyOrId);

  /** A batch. */
  Optional<Batch> batch(long id);

  /** Batches by number, beginning after {@code after}, from 0. */
  default List<Batch> batches(long after, int limit) {
    return batches(after, limit, Order.ASCENDING);
  }

  /**
   * Batches by number.
   *
   * @param after the number after which the list begins in its order; 0 for all
   */
  List<Batch> batches(long after, int limit, Order order);

  /** The jobs of a batch that are still there, in the order in which they were submitted. */
  List<Job> jobsOf(Batch batch);

  /** The next jobs of a type, highest priority first, without taking them. */
  List<Job> next(String type, int most);

  /**
   * Assigns waiting jobs to workers, at most one to each: immediate ones first, then batch ones,
   * then those that have failed, except to the worker that failed at them last. A crash may leave
   * claims on failed jobs without a record; those end by themselves within seconds.
   *
   * @param workers the ready workers; one that is named twice takes two jobs
   * @return what was assigned, in no order; fewer than workers if fewer jobs wait
   */
  List<Assignment> assign(String type, List<WorkerId> workers);

  /**
   * Whether failed jobs of a type may wait, which not every worker gets. Changes by other processes
   * show within a second.
   */
  boolean hasFailed(String type);

  /** Whether jobs of a type have limits, so that the end of one may let another begin. */
  boolean isLimited(String type);

  /**
   * How long to wait before jobs of a type are asked for again that limits keep waiting; empty if
   * there are none.
   */
  Optional<Duration> pauseForLimits(String type);

  /**
   * Has a job of a type claimed as soon as the limits that the type shares have room, in turn with
   * all others that wait for them. The next {@link #assign} gives it to a worker. Does nothing if
   * the type shares no limits, or such a claim waits already.
   *
   * @param whenDone called by any thread when the answer is there
   */
  void awaitRoom(String type, Runnable whenDone);

  /** Gives back a job that {@link #awaitRoom} has got and that no worker takes. */
  void giveBackAwaited(String type);

  /** How long a pending job has to wait before it may be given out; zero for no longer. */
  Duration delay(Job job);

  /** When delayed jobs may be given out, by type; none for a type without such jobs. */
  Map<String, Delays> delays();

  /**
   * Prolongs claims for another lease.
   *
   * @return those that are no longer the latest of their jobs
   */
  List<Assignment> renew(List<Assignment> assignments);

  /**
   * Stores how attempts ended, in as few transactions as possible. If the job's type has a next
   * type, the result becomes a job of that type in the same commit; or later, by the follow-on
   * jobs, if it has to be copied or something is wrong with it. A report that is repeated after its
   * answer was lost is accepted again. The blob of a refused result is deleted. A report that
   * cannot be stored does not hold up the others: if the store would never take it, it becomes a
   * failure of its job; otherwise it is postponed.
   *
   * @return what became of each, in their order
   * @throws JobsFullException when the store has no room
   */
  List<Settled> settle(List<Report> reports);

  /**
   * The job if the last report on it is the result of this attempt: for a report that is repeated
   * after its answer was lost.
   *
   * @param token that of the attempt's claim
   */
  Optional<Job> completedBy(String keyOrId, long token);

  /** The job if the last report on it is the failure of this attempt. */
  Optional<Job> failedBy(String keyOrId, long token);

  /** Offers all running jobs again, for a server that has just started; gives how many. */
  int returnAll();

  /**
   * Which jobs to list; null for "any" in every part.
   *
   * @param type the name of the type
   * @param status its status
   * @param priority how soon it was wanted
   * @param batch the number of its batch
   * @param worker the worker that has it or had it last
   * @param text a part of its GUID, key, description or tags, in upper or lower case
   */
  public record JobFilter(
      @Nullable String type,
      @Nullable JobStatus status,
      @Nullable Priority priority,
      @Nullable Long batch,
      @Nullable WorkerId worker,
      @Nullable String text) {
    /** All jobs. */
    public static final JobFilter ALL = new JobFilter(null, null, null, null, null);

    /** Without a text. */
    public JobFilter(
        @Nullable String type,
        @Nullable JobStatus status,
        @Nullable Priority priority,
        @Nullable Long batch,
        @Nullable WorkerId worker) {
      this(type, status, priority, batch, worker, null);
    }

    /** Whether it lets this job through. */
    public boolean matches(Job job) {
      return (type == null || type.equals(job.type()))
          && (status == null || status == job.status())
          && (priority == null || priority == job.order().priority())
          && (batch == null || batch == job.batch())
          && (worker == null || worker.equals(job.hand().worker()))
          && (text == null
              || contains(job.id().toString(), text)
              || contains(job.order().key(), text)
              || contains(job.order().description(), text)
              || job.order().policy().tags().stream().anyMatch(tag -> contains(tag, text)));
    }

    private static boolean contains(@Nullable String whole, String part) {
      return whole != null
          && whole.toLowerCase(Locale.ROOT).contains(part.toLowerCase(Locale.ROOT));
    }
  }
}
