package io.millrace.cluster.shared;

import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.lock.LeaseLostException;
import io.millrace.cluster.member.Member;
import java.io.Serial;
import java.io.Serializable;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A lock that all members of a cluster share by its name, in the document {@code lock/NAME}. One
 * thread of one member holds it at a time, by its own clock; what it writes elsewhere should carry
 * the fencing token of its guard. If a member is killed while it holds the lock, another one gets
 * it after lease and margin.
 *
 * <p>Members take turns: a lock that is released goes to the member that has waited longest, which
 * learns of it within a fraction of a second, and one that takes it again waits behind the others.
 * If a member that waits has died, the next one gets the lock about a second later.
 *
 * <p>Safe for use by any number of threads. Only the name is serialized.
 */
public final class NamedLock implements Serializable {
  @Serial private static final long serialVersionUID = 1;

  /** The prefix of the keys of all such locks; the name follows. */
  public static final String PREFIX = "lock/";

  private final String name;
  private final transient @Nullable Member member;

  private NamedLock(String name, @Nullable Member member) {
    this.name = SharedState.checkName("lock", name);
    this.member = member;
  }

  /**
   * The lock of a name, for the member whose work uses it.
   *
   * @param name 1 to 300 bytes of UTF-8 without control characters; {@code /} has no special
   *     meaning
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
   * Waits for the lock without a time limit, and runs code on this thread while it is held. The
   * lease is renewed while the code runs. If it is lost, the thread is interrupted. The lock is
   * released when the code has returned or thrown.
   *
   * @return the result of the code
   * @throws LeaseLostException if the lock was lost before the code had ended; what that has thrown
   *     is the cause
   * @throws InterruptedException if this thread was interrupted while it waited
   * @throws IllegalStateException if this thread holds the lock already, or does not run work of a
   *     member
   */
  public <T extends @Nullable Object, E extends Exception> T guard(GuardedCode<Guard, T, E> code)
      throws E, InterruptedException {
    return section().run(lease -> lease, code);
  }

  /**
   * The same with a longest wait.
   *
   * @param most the longest wait; zero to try once
   * @throws TimeoutException if others held it for all that time; the code did not run
   */
  public <T extends @Nullable Object, E extends Exception> T guard(
      Duration most, GuardedCode<Guard, T, E> code)
      throws E, InterruptedException, TimeoutException {
    return section().run(most, lease -> lease, code);
  }

  private GuardedSection section() {
    SharedState shared = SharedState.of(member == null ? Member.current() : member);
    SharedState.LocalWaiters line = shared.line(PREFIX + name);
    if (line.isHolder(Thread.currentThread())) {
      throw new IllegalStateException(
          "this thread holds " + this + " already, and would wait for itself");
    }
    return new GuardedSection(
        toString(),
        line,
        shared.context().clock(),
        () ->
            FairAcquirer.of(PREFIX + name, shared.context(), shared.locks(), line.observedLocks()));
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
