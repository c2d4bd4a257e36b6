package io.millrace.jobs.registry;

import io.millrace.blobs.Value;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.Submission;
import io.millrace.store.Bytes;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.work.policy.Policy;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A new job that is to be stored.
 *
 * @param id its GUID
 * @param order what was submitted
 * @param payload kept already
 * @param parent the job of whose result it is made; null if it was submitted
 * @param scheduled the run of a schedule that it is; null for none
 * @param submittedMillis when
 * @param holds by what it is unique
 * @param settings its settings, and those of its type
 */
record NewJob(
    JobId id,
    Submission order,
    Value payload,
    @Nullable JobId parent,
    Job.@Nullable Scheduled scheduled,
    long submittedMillis,
    Holds holds,
    Policy settings) {
  private static final int METADATA_BYTES = 1_000;

  /**
   * By what a new job is unique.
   *
   * @param unique the unique key that it holds; null for none
   * @param request its request id, which is remembered whatever becomes of the job; null for none
   */
  record Holds(Job.@Nullable Hold unique, Job.@Nullable Hold request) {
    /** A job that is never a duplicate. */
    static final Holds NONE = new Holds(null, null);

    /** Those that there are, the request id first. */
    List<Job.Hold> all() {
      if (request == null) {
        return unique == null ? List.of() : List.of(unique);
      }
      return unique == null ? List.of(request) : List.of(request, unique);
    }
  }

  /** One that is no run of a schedule, and has no unique key. */
  NewJob(
      JobId id,
      Submission order,
      Value payload,
      @Nullable JobId parent,
      long submittedMillis,
      Policy settings) {
    this(id, order, payload, parent, null, submittedMillis, Holds.NONE, settings);
  }

  /** About how many bytes it brings to a transaction. */
  long bytes() {
    return METADATA_BYTES + (payload instanceof Value.Inline ? payload.size() : 0);
  }

  /** Adds its task and its documents, the job's first. */
  JobTransaction.Written writeTo(JobTransaction transaction, Batches.Spot spot) {
    Duration delay = Duration.ofMillis(Math.max(0, order.notBeforeMillis() - submittedMillis));
    Job job =
        new Job(
            id,
            order,
            JobStatus.PENDING,
            spot.batch(),
            new Job.Times(submittedMillis, null, null),
            0,
            0,
            new Job.Waiting(
                delay.isZero() ? 0 : order.notBeforeMillis(),
                0,
                Job.Limits.of(settings, submittedMillis + delay.toMillis())),
            Job.Hand.NOBODY,
            new Job.Line(parent, null, null, scheduled),
            new Job.Content(payload.size(), null),
            new Job.Place(DocumentVersion.ABSENT, 0, holds.unique(), 0));
    JobTransaction.Written written =
        transaction.add(
            new StoredJob(job, null), Groups.waiting(order.type(), order.priority()), delay);
    transaction.put(
        Keys.member(spot.batch(), id),
        DocumentVersion.ABSENT,
        Bytes.of(Integer.toString(spot.index())));
    if (order.key() != null) {
      transaction.put(Keys.name(order.key()), DocumentVersion.ABSENT, Bytes.of(id.toString()));
    }
    if (payload instanceof Value.Inline inline) {
      transaction.put(Keys.payload(id), DocumentVersion.ANY, Bytes.copyOf(inline.bytes()));
    }
    return written;
  }
}
