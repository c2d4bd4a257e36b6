package io.millrace.cluster.shared;

import io.millrace.cluster.lock.LeaseLostException;
import io.millrace.cluster.member.Member;
import io.millrace.cluster.membership.Station;
import java.io.Serial;
import java.io.Serializable;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A semaphore that all members of a cluster know by its name: of the threads of all members
 * together, so many are inside at a time, by their own clocks, as it has permits. Each permit is a
 * lock, by the rules of {@link NamedLock}: one that a killed member held comes back after lease and
 * margin, and members learn of one that was released early when its lease would have ended, at the
 * latest.
 *
 * <p>The number of permits is what the first one says who uses the name in a cluster, and stays
 * that; another number needs another name.
 *
 * <p>Safe for use by any number of threads. What is serialized is name and number.
 */
public final class ClusterSemaphore implements Serializable {
  @Serial private static final long serialVersionUID = 1;

  private final String name;
  private final int count;
  private final transient Permits permits;
  private final transient @Nullable Member member;

  private ClusterSemaphore(Permits permits, @Nullable Member member) {
    this.name = permits.name();
    this.count = permits.count();
    this.permits = permits;
    this.member = member;
  }

  /**
   * The semaphore of a name, for whichever member's work is done where it is used.
   *
   * @param name 1 to 300 bytes of UTF-8 without control characters and without {@code /}
   * @param permits how many there are, 1 to 1000
   * @throws IllegalArgumentException naming what is wrong
   */
  public static ClusterSemaphore of(String name, int permits) {
    return new ClusterSemaphore(new Permits(name, permits), null);
  }

  /** A semaphore for one member, on any of its threads. The member is not serialized. */
  public static ClusterSemaphore of(String name, int permits, Member member) {
    return new ClusterSemaphore(new Permits(name, permits), member);
  }

  /**
   * Waits for a permit, as long as it takes, and runs code with it, on this thread. The lease is
   * renewed while the code runs. Where it is lost, the thread is interrupted. The permit is given
   * back when the code has ended, whether by returning or by throwing. A thread that is inside
   * already takes a second permit.
   *
   * @return what the code gives
   * @throws LeaseLostException where the permit was lost before the code had ended; what that has
   *     thrown is the cause
   * @throws InterruptedException where this thread was interrupted while it waited
   * @throws IllegalArgumentException where the semaphore has another number of permits
   * @throws IllegalStateException where this thread does no member's work
   */
  public <T extends @Nullable Object, E extends Exception> T guard(GuardedCode<Permit, T, E> code)
      throws E, InterruptedException {
    try {
      return guard(Gate.FOREVER, code);
    } catch (TimeoutException e) {
      throw new IllegalStateException("a century has passed", e);
    }
  }

  /**
   * The same, but waits for a time at most.
   *
   * @param most zero to look once
   * @throws TimeoutException where there was no permit for all that time; the code did not run
   */
  public <T extends @Nullable Object, E extends Exception> T guard(
      Duration most, GuardedCode<Permit, T, E> code)
      throws E, InterruptedException, TimeoutException {
    Commons commons = Commons.of(member == null ? Member.current() : member);
    Anteroom room = commons.room(permits.key());
    Station station = commons.station();
    return new Gate(
            toString(),
            room,
            station.clock(),
            () ->
                new PermitContest(
                    station, commons.locks(), room.sightings(), permits, room.takeLeft()))
        .pass(most, HeldPermit::new, code);
  }

  @Serial
  private Object readResolve() {
    return of(name, count);
  }

  @Override
  public String toString() {
    return "semaphore '" + name + "' of " + count;
  }
}
