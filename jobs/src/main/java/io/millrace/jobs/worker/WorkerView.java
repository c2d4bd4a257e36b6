package io.millrace.jobs.worker;

import io.millrace.jobs.JobId;
import io.millrace.jobs.WorkerId;
import java.util.List;
import java.util.Locale;

/**
 * A worker as it is listed.
 *
 * @param id the id that it chose
 * @param name its display name
 * @param type the type of its jobs; empty on a server without types
 * @param state its state
 * @param jobs the jobs that it works on
 * @param tally what it has done, on this connection alone if workers are not tracked
 * @param seen when it was connected
 */
public record WorkerView(
    WorkerId id, String name, String type, State state, List<JobId> jobs, Tally tally, Seen seen) {
  /** What a worker can do now. */
  public enum State {
    /** Registered; it has not said yet whether it is ready. */
    UNKNOWN,
    /** It can be given a job. */
    READY,
    /** It has as many jobs as it takes, or says that it is busy. */
    BUSY,
    /** Its connection is over; it is listed for a while. */
    DISCONNECTED;

    /** The name in answers, in lower case. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * What a worker has done, over all its connections if workers are tracked.
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
   * When a worker was connected, in milliseconds since the epoch.
   *
   * @param connected when its current or last connection began
   * @param last when it last showed any sign of life
   */
  public record Seen(long connected, long last) {}
}
