package io.millrace.cluster.shared;

import io.millrace.cluster.lock.Lease;
import io.millrace.cluster.lock.LeaseLostException;
import io.millrace.cluster.member.Member;
import java.io.Serial;
import java.io.Serializable;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A semaphore that all members of a cluster share by its name. At any time, by their own clocks, at
 * most as many threads of all members together hold a permit as there are permits. Each permit is a
 * lock with the rules of {@link NamedLock}: the permit of a killed member becomes free after lease
 * and margin, and members take turns.
 *
 * <p>The first user of a name in a cluster chooses the number of permits permanently; another
 * number needs another name.
 *
 * <p>Safe for use by any number of threads. Only the name and the number of permits are serialized.
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
   * Returns the semaphore with this name, for the member whose work uses it.
   *
   * @param name 1 to 300 bytes of UTF-8 without control characters and without {@code /}
   * @param permits the number of permits, 1 to 1000
   * @throws IllegalArgumentException naming what is wrong
   */
  public static ClusterSemaphore of(String name, int permits) {
    return new ClusterSemaphore(new Permits(name, permits), null);
  }

  /** Returns the semaphore for one member, on any of its threads. The member is not serialized. */
  public static ClusterSemaphore of(String name, int permits, Member member) {
    return new ClusterSemaphore(new Permits(name, permits), member);
  }

  /**
   * Waits for a permit without a time limit, and runs code with it on this thread. The lease is
   * renewed while the code runs. If it is lost, the thread is interrupted. The permit is released
   * when the code returns or throws. A thread that already holds a permit takes a second one.
   *
   * @return the result of the code
   * @throws LeaseLostException if the permit was lost before the code ended; the cause is the
   *     exception of the code, if any
   * @throws InterruptedException if this thread is interrupted while it waits
   * @throws IllegalArgumentException if the semaphore has another number of permits
   * @throws IllegalStateException if this thread does not run work of a member
   */
  public <T extends @Nullable Object, E extends Exception> T guard(GuardedCode<Permit, T, E> code)
      throws E, InterruptedException {
    return section().run(HeldPermit::new, code);
  }

  /**
   * Like {@link #guard(GuardedCode)}, with a maximum wait.
   *
   * @param max the maximum wait; zero to try once
   * @throws TimeoutException if no permit became free in that time; the code did not run
   */
  public <T extends @Nullable Object, E extends Exception> T guard(
      Duration max, GuardedCode<Permit, T, E> code)
      throws E, InterruptedException, TimeoutException {
    return section().run(max, HeldPermit::new, code);
  }

  private GuardedSection section() {
    SharedState shared = SharedState.of(member == null ? Member.current() : member);
    SharedState.LocalWaiters line = shared.line(permits.key());
    return new GuardedSection(
        toString(),
        line,
        shared.context().clock(),
        () -> FairAcquirer.of(permits, shared.context(), shared.locks(), line.observedLocks()));
  }

  @Serial
  private Object readResolve() {
    return of(name, count);
  }

  @Override
  public String toString() {
    return "semaphore '" + name + "' of " + count;
  }

  private record HeldPermit(Lease lease) implements Permit {
    @Override
    public int number() {
      String key = lease.key();
      return Integer.parseInt(key, key.lastIndexOf('/') + 1, key.length(), 10);
    }

    @Override
    public long fence() {
      return lease.fence();
    }

    @Override
    public Duration remaining() {
      return lease.remaining();
    }
  }
}
