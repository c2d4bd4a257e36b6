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
 * thread of one member holds it at a time, by its own clock. What it writes elsewhere should carry
 * the fencing token of its guard. If a member is killed while it holds the lock, another member
 * gets it after lease and margin.
 *
 * <p>Members take turns. A released lock goes to the member that has waited longest, within a
 * fraction of a second; the member that released it waits behind the others if it wants the lock
 * again. If the first waiting member has died, the next one gets the lock about a second later.
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
   * Returns the lock with this name, for the member whose work uses it.
   *
   * @param name 1 to 300 bytes of UTF-8 without control characters; {@code /} has no special
   *     meaning
   * @throws IllegalArgumentException naming what is wrong with the name
   */
  public static NamedLock of(String name) {
    return new NamedLock(name, null);
  }

  /** Returns the lock for one member, on any of its threads. The member is not serialized. */
  public static NamedLock of(String name, Member member) {
    return new NamedLock(name, member);
  }

  /**
   * Waits for the lock without a time limit, and runs code on this thread while it is held. The
   * lease is renewed while the code runs. If it is lost, the thread is interrupted. The lock is
   * released when the code returns or throws.
   *
   * @return the result of the code
   * @throws LeaseLostException if the lock was lost before the code ended; the cause is the
   *     exception of the code, if any
   * @throws InterruptedException if this thread is interrupted while it waits
   * @throws IllegalStateException if this thread holds the lock already, or does not run work of a
   *     member
   */
  public <T extends @Nullable Object, E extends Exception> T guard(GuardedCode<Guard, T, E> code)
      throws E, InterruptedException {
    return section().run(lease -> lease, code);
  }

  /**
   * Like {@link #guard(GuardedCode)}, with a maximum wait.
   *
   * @param max the maximum wait; zero to try once
   * @throws TimeoutException if the lock did not become free in that time; the code did not run
   */
  public <T extends @Nullable Object, E extends Exception> T guard(
      Duration max, GuardedCode<Guard, T, E> code)
      throws E, InterruptedException, TimeoutException {
    return section().run(max, lease -> lease, code);
  }

  private GuardedSection section() {
    SharedState shared = SharedState.of(member == null ? Member.current() : member);
    SharedState.LocalWaiters line = shared.line(PREFIX + name);
    if (line.isHolder(Thread.currentThread())) {
      throw new IllegalStateException(
          "this thread holds " + this + " already and cannot acquire it again");
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
