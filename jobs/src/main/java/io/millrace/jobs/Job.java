package io.millrace.jobs;

import io.millrace.jobs.Assignment.JobClaim;
import io.millrace.work.policy.UniqueKey;
import org.jspecify.annotations.Nullable;

/**
 * A job as it was at one moment.
 *
 * @param id its GUID
 * @param order what was submitted
 * @param status its status
 * @param batch the number of its batch, from 1
 * @param times when it was submitted, started and ended
 * @param failures how often it failed since it was submitted or retried
 * @param returns how often it was returned since it was submitted or retried: its worker was gone,
 *     or its result was refused
 * @param waiting when it may be given out next
 * @param hand the worker that has it, or had it last
 * @param line what it came from and what came from it
 * @param content how large its payload and result are
 * @param place its place in the store
 */
public record Job(
    JobId id,
    Submission order,
    JobStatus status,
    long batch,
    Times times,
    int failures,
    int returns,
    Waiting waiting,
    Hand hand,
    Line line,
    Content content,
    Place place) {

  /** A job that may be given out at once. */
  public Job(
      JobId id,
      Submission order,
      JobStatus status,
      long batch,
      Times times,
      int failures,
      int returns,
      Hand hand,
      Line line,
      Content content,
      Place place) {
    this(
        id,
        order,
        status,
        batch,
        times,
        failures,
        returns,
        Waiting.NONE,
        hand,
        line,
        content,
        place);
  }

  /** Its key, or its GUID if it was given none. */
  public String key() {
    String given = order.key();
    return given == null ? id.toString() : given;
  }

  /** The name of its type; empty on a server without types. */
  public String type() {
    return order.type();
  }

  /**
   * Times in milliseconds since the epoch.
   *
   * @param submitted when it was submitted
   * @param started when the current or last attempt began; null before the first
   * @param ended when it was done or failed for good; null until then
   */
  public record Times(long submitted, @Nullable Long started, @Nullable Long ended) {}

  /**
   * When a job may be given out.
   *
   * @param notBeforeMillis since the epoch, while it is pending; 0 for at once
   * @param snoozes how often it was put off at the wish of its worker, since it was submitted or
   *     retried
   */
  public record Waiting(long notBeforeMillis, int snoozes) {
    /** At once, and it was never put off. */
    public static final Waiting NONE = new Waiting(0, 0);

    /** The same for a job that may be given out at once. */
    public Waiting over() {
      return notBeforeMillis == 0 ? this : new Waiting(0, snoozes);
    }
  }

  /**
   * The worker of a job.
   *
   * @param worker the worker that has it while it runs, or had it last; null before the first
   * @param claim the claim while it runs; null otherwise
   */
  public record Hand(@Nullable WorkerId worker, @Nullable JobClaim claim) {
    /** No worker has had it. */
    public static final Hand NOBODY = new Hand(null, null);
  }

  /**
   * What a job comes from, and jobs made of results.
   *
   * @param parent the job whose result is this one's payload; null if it was submitted
   * @param child the job that was made of its result; null for none
   * @param followOn the job that is still to be made of its result; null for none
   * @param scheduled the run of a schedule that it is; null for none
   */
  public record Line(
      @Nullable JobId parent,
      @Nullable JobId child,
      @Nullable FollowOn followOn,
      @Nullable Scheduled scheduled) {
    /** Submitted, and nothing came of it yet. */
    public static final Line NONE = new Line(null, null, null, null);

    /** The same with what is made of its result. */
    public Line with(@Nullable JobId made, @Nullable FollowOn toBeMade) {
      return new Line(parent, made, toBeMade, scheduled);
    }
  }

  /**
   * The run of a schedule.
   *
   * @param name the name of the schedule
   * @param nominalMillis the time of the run by the schedule, in milliseconds since the epoch
   * @param startedMillis when the schedule submitted the job, in milliseconds since the epoch
   */
  public record Scheduled(String name, long nominalMillis, long startedMillis) {}

  /**
   * A job that is to be made of a result, which is stored already. It is tried again and again.
   *
   * @param type of the job to be
   * @param problem why the last try failed; null when there was none yet
   */
  public record FollowOn(String type, @Nullable String problem) {}

  /**
   * Sizes in bytes.
   *
   * @param payload of the payload
   * @param result of the result; null while there is none
   */
  public record Content(long payload, @Nullable Long result) {}

  /**
   * A job's place in the store.
   *
   * @param version of its document
   * @param task the origin of its kernel task; 0 when it has none, having ended
   * @param hold the unique key that it holds; null for none
   */
  public record Place(long version, long task, @Nullable Hold hold) {}

  /**
   * A unique key that a job holds.
   *
   * @param hash stands for the key
   * @param scope in which states it is held, if it is not held until a time
   * @param untilMillis until when it is held, since the epoch, whatever becomes of the job; 0 for
   *     as long as the scope says
   */
  public record Hold(String hash, UniqueKey.Scope scope, long untilMillis) {}
}
