package io.millrace.jobs;

import io.millrace.jobs.Assignment.JobClaim;
import io.millrace.store.environment.DurationText;
import io.millrace.work.policy.Deadlines;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.UniqueKey;
import io.millrace.work.trace.SpanRecorder;
import io.millrace.work.trace.TraceContext;
import java.time.Duration;
import java.util.Optional;
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
  /** The kind of work in the names of spans. */
  public static final String TRACED = "job";

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

  /** The span of all of it; null if it belongs to no trace. */
  public @Nullable TraceContext span() {
    return order.trace() == null
        ? null
        : order.trace().work(SpanRecorder.name(TRACED, id.toString()));
  }

  /**
   * The span of an attempt at it.
   *
   * @param token the fencing token of the attempt
   * @return null if it belongs to no trace
   */
  public @Nullable TraceContext span(long token) {
    return order.trace() == null
        ? null
        : order.trace().attempt(SpanRecorder.name(TRACED, id.toString()), token);
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
   * When a job may be given out, and when it is over time.
   *
   * @param notBeforeMillis since the epoch, while it is pending; 0 for at once
   * @param snoozes how often it was put off at the wish of its worker, since it was submitted or
   *     retried
   * @param limits how long it may take
   */
  public record Waiting(long notBeforeMillis, int snoozes, Limits limits) {
    /** At once, it was never put off, and may take any time. */
    public static final Waiting NONE = new Waiting(0, 0, Limits.NONE);

    /** The same for a job that may be given out at once. */
    public Waiting over() {
      return notBeforeMillis == 0 ? this : new Waiting(0, snoozes, limits);
    }
  }

  /**
   * How long a job may take, by the settings with which it was submitted.
   *
   * @param attemptMillis how long one attempt may take; 0 for any time
   * @param deadlines when it is over time while it is pending, and as a whole
   */
  public record Limits(long attemptMillis, Deadlines deadlines) {
    /** Any time. */
    public static final Limits NONE = new Limits(0, Deadlines.NONE);

    /**
     * Those of a new job.
     *
     * @param runnableMillis when it may be given out first
     */
    public static Limits of(Policy policy, long runnableMillis) {
      if (policy.isEmpty()) {
        return NONE;
      }
      long attempt = policy.timeout().map(Duration::toMillis).orElse(0L);
      Deadlines deadlines = Deadlines.of(policy, runnableMillis);
      return attempt == 0 && deadlines.isEmpty() ? NONE : new Limits(attempt, deadlines);
    }

    /** The same with other deadlines. */
    public Limits with(Deadlines others) {
      return new Limits(attemptMillis, others);
    }
  }

  /** When it is to be failed unless something happens before; 0 for never. */
  public long deadlineMillis() {
    Limits limits = waiting.limits();
    Long started = times.started();
    return switch (status) {
      case DONE, FAILED -> 0;
      case PENDING -> limits.deadlines().next(true);
      case RUNNING -> {
        long whole = limits.deadlines().next(false);
        long attempt =
            limits.attemptMillis() == 0 || started == null ? 0 : started + limits.attemptMillis();
        yield whole == 0 || attempt == 0 ? Math.max(whole, attempt) : Math.min(whole, attempt);
      }
    };
  }

  /** The limit that it exceeds, as a reason for people; empty if it is in time. */
  public Optional<String> overTime(long nowMillis) {
    long deadline = deadlineMillis();
    if (deadline == 0 || deadline > nowMillis) {
      return Optional.empty();
    }
    return waiting
        .limits()
        .deadlines()
        .exceeded(status == JobStatus.PENDING, nowMillis)
        .or(() ->
            Optional.of(
                "it took longer than its timeout of "
                    + DurationText.show(Duration.ofMillis(waiting.limits().attemptMillis()))));
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
   * @param deadlineMillis at which deadline the registry looks at it; 0 for none
   */
  public record Place(long version, long task, @Nullable Hold hold, long deadlineMillis) {}

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
