package io.millrace.cluster.shared;

import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.lock.LeaseLostException;
import io.millrace.cluster.lock.Lock;
import io.millrace.cluster.member.Member;
import io.millrace.cluster.membership.Station;
import java.io.Serial;
import java.io.Serializable;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A lock that all members of a cluster know by its name, in the document {@code lock/NAME}. One
 * thread of one member is inside at a time, by its own clock; what it writes elsewhere should carry
 * the fencing token of its guard. A member that is killed inside is followed by another after lease
 * and margin.
 *
 * <p>Nobody looks at a lock before it expires, so members learn of one that was released early when
 * its lease would have ended, at the latest; threads of the same member learn at once. Which member
 * comes next is not promised.
 *
 * <p>Safe for use by any number of threads. What is serialized is the name.
 */
public final class NamedLock implements Serializable {
  @Serial private static final long serialVersionUID = 1;

  /** What the keys of all such locks begin with; the name follows. */
  public static final String PREFIX = "lock/";

  private final String name;
  private final transient @Nullable Member member;

  private NamedLock(String name, @Nullable Member member) {
    this.name = Names.check("lock", name);
    this.member = member;
  }

  /**
   * The lock of a name, for whichever member's work is done where it is used.
   *
   * @param name 1 to 300 bytes of UTF-8 without control characters; {@code /} is a letter as others
   * @throws IllegalArgumentException naming what is wrong with the name
   */
  public static NamedLock of(String name) {
    return new NamedLock(name, null);
  }

  /** The lock of a name for one member, on any of its threads. The member is not serialized. */
  public static NamedLock of(String name, Member member) {
    return new NamedLock(name, member);
  }

  /**
   * Waits for the lock, as long as it takes, and runs code inside, on this thread. The lease is
   * renewed while the code runs. Where it is lost, the thread is interrupted. The lock is given
   * back when the code has ended, whether by returning or by throwing.
   *
   * @return what the code gives
   * @throws LeaseLostException where the lock was lost before the code had ended; what that has
   *     thrown is the cause
   * @throws InterruptedException where this thread was interrupted while it waited
   * @throws IllegalStateException where this thread is inside already, or does no member's work
   */
  public <T extends @Nullable Object, E extends Exception> T guard(GuardedCode<Guard, T, E> code)
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
   * @param most zero to look at the lock once
   * @throws TimeoutException where others held it for all that time; the code did not run
   */
  public <T extends @Nullable Object, E extends Exception> T guard(
      Duration most, GuardedCode<Guard, T, E> code)
      throws E, InterruptedException, TimeoutException {
    Commons commons = Commons.of(member == null ? Member.current() : member);
    Anteroom room = commons.room(PREFIX + name);
    if (room.isInside(Thread.currentThread())) {
      throw new IllegalStateException(
          "this thread is inside of " + this + " already, and would wait for itself");
    }
    Station station = commons.station();
    return new Gate(
            toString(),
            room,
            station.clock(),
            () ->
                new Lock(
                    PREFIX + name,
                    station.documents(),
                    commons.locks(),
                    room.sightings(),
                    station.clock()))
        .pass(most, tenure -> tenure, code);
  }

  @Serial
  private Object readResolve() {
    return of(name);
  }

  @Override
  public String toString() {
    return "lock '" + name + "'";
  }
}
