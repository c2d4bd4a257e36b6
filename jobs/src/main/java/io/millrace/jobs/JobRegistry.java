package io.millrace.jobs;

import io.millrace.blobs.Value;
import java.io.InputStream;
import java.util.List;
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

  /** The name of the blob that holds a job's payload, where it is too large for the commit. */
  static String payloadName(JobId id) {
    return id + ".job";
  }

  /**
   * The name of the blob that holds the result of an attempt, where it is too large for the commit.
   * Each attempt has its own, so that one that comes too late never touches what was accepted.
   */
  static String resultName(Assignment assignment) {
    return assignment.job().id() + "." + assignment.claim().token() + ".result";
  }

  /**
   * Submits a job whose payload is kept already.
   *
   * @param payload what {@link Value#keep} made of it under {@link #payloadName}
   * @return the job as it is now; that of an earlier call with the same id and submission, whose
   *     answer was lost
   * @throws InvalidJobException when the type is unknown or the key is taken; the blob is left to
   *     the caller
   * @throws JobsFullException when the store has no room
   */
  Job submit(JobId id, Submission submission, Value payload);

  /**
   * The same without waiting: the job is taken together with others once {@link #flush} is called.
   *
   * @param payload small enough to be part of the commit
   * @return the job as it is then; fails with what {@link #submit} throws
   * @throws InvalidJobException when the type is unknown
   */
  CompletableFuture<Job> enqueue(JobId id, Submission submission, Value.Inline payload);

  /** Has everything taken that was enqueued, on another thread. */
  void flush();

  /** Whether no job has this key now. */
  boolean isFree(String key);

  /** The job with this key or GUID. */
  Optional<Job> find(String keyOrId);

  /**
   * Jobs in the order of their GUIDs, which is that in which their submissions began.
   *
   * @param after the GUID of the last one known already; null from the first
   * @param limit the most to give, from 1
   */
  List<Job> list(JobFilter filter, @Nullable JobId after, int limit);

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
   * Offers a failed job again, with its failures counted anew; its history stays.
   *
   * @return the job as it is now; empty when there is none
   * @throws JobStateException when it has not failed
   */
  Optional<Job> retry(String keyOrId);

  /** A batch. */
  Optional<Batch> batch(long id);

  /** Batches by number, beginning after {@code after}, from 0. */
  List<Batch> batches(long after, int limit);

  /** The jobs of a batch that are still there, in the order in which they were submitted. */
  List<Job> jobsOf(Batch batch);

  /** The next jobs of a type, highest priority first, without taking them. */
  List<Job> next(String type, int most);

  /**
   * Gives waiting jobs to workers, one to each at most: immediate ones first, then batch ones, then
   * those that have failed, which no worker gets that failed at them last. A crash may leave claims
   * on jobs that have failed without a record; those end by themselves within seconds.
   *
   * @param workers who is ready; a worker that is named twice takes two
   * @return what was assigned, in no order; fewer than workers where fewer jobs wait
   */
  List<Assignment> assign(String type, List<WorkerId> workers);

  /**
   * Whether jobs of a type may wait that have failed, which not every worker can have. What other
   * processes have changed shows within a second.
   */
  boolean hasFailed(String type);

  /**
   * Prolongs claims for another lease.
   *
   * @return those that are not the latest of their jobs any more
   */
  List<Assignment> renew(List<Assignment> assignments);

  /**
   * Stores how attempts ended, all that it can in one transaction. A result whose type has a next
   * one becomes a job of that in the same commit, or later, by {@link Jobs#followOns}, when it
   * would have to be copied or something is wrong with it. A report that is repeated after its
   * answer was lost is accepted again. The blob of a result that is refused is deleted. A report
   * that cannot be stored keeps no other from being stored: one that the store would never take
   * becomes a failure of its job, any other is postponed.
   *
   * @return what became of each, in their order
   * @throws JobsFullException when the store has no room
   */
  List<Settled> settle(List<Report> reports);

  /**
   * A job of which the last that was stored is the result of this attempt: for who repeats a report
   * after its answer was lost.
   *
   * @param token that of the attempt's claim
   */
  Optional<Job> completedBy(String keyOrId, long token);

  /** The same of a job whose attempt failed, which may wait again or have failed for good. */
  Optional<Job> failedBy(String keyOrId, long token);

  /** Offers every job again that is running: for a server that has just started. */
  int returnAll();
}
