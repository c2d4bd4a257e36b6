package io.millrace.jobs.worker;

import io.millrace.jobs.JobId;
import io.millrace.jobs.WorkerId;
import java.util.List;

/**
 * A worker as it is listed.
 *
 * @param id what it calls itself
 * @param name its display name
 * @param type the type of its jobs; empty on a server without types
 * @param state what is known of it
 * @param jobs the jobs in its hands
 * @param tally what it has done, on this connection alone where workers are not tracked
 * @param seen when it was there
 */
public record WorkerView(
    WorkerId id,
    String name,
    String type,
    WorkerState state,
    List<JobId> jobs,
    Tally tally,
    Seen seen) {
  /**
   * What a worker has done, over all its connections where workers are tracked.
   *
   * @param succeeded how many jobs it gave an accepted result for
   * @param failed how many jobs it failed
   */
  public record Tally(long succeeded, long failed) {
    /** Nothing yet. */
    public static final Tally NONE = new Tally(0, 0);

    /** One accepted result. */
    static final Tally SUCCESS = new Tally(1, 0);

    /** One failure. */
    static final Tally FAILURE = new Tally(0, 1);

    /** Both together. */
    Tally plus(Tally other) {
      return new Tally(succeeded + other.succeeded, failed + other.failed);
    }
  }

  /** The same with another tally. */
  WorkerView with(Tally other) {
    return new WorkerView(id, name, type, state, jobs, other, seen);
  }

  /**
   * When a worker was there, in milliseconds since the epoch.
   *
   * @param connected when its current or last connection began
   * @param last when it last showed any sign of life
   */
  public record Seen(long connected, long last) {}
}
