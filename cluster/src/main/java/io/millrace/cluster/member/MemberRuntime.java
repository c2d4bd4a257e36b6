package io.millrace.cluster.member;

import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.membership.MemberContext;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** What a member offers to its work and its leader. Safe for use by any number of threads. */
public final class MemberRuntime {
  static final ScopedValue<Member> MEMBER = ScopedValue.newInstance();
  static final ScopedValue<Guard> GUARD = ScopedValue.newInstance();

  private final Member member;
  private final MemberContext context;
  private final Wakeup memberWakeup = new Wakeup();
  private final Wakeup leaderWakeup = new Wakeup();

  MemberRuntime(Member member, MemberContext context) {
    this.member = member;
    this.context = context;
  }

  /** What all parts of the member use. */
  public MemberContext context() {
    return context;
  }

  /** Has the member look at once at what it holds: an attempt has ended. */
  public void wakeMember() {
    memberWakeup.wake();
  }

  /** Has the leader's next round come at once. */
  public void wakeLeader() {
    leaderWakeup.wake();
  }

  /** Has the member's thread wait until a moment, or until {@link #wakeMember}. */
  void awaitMember(long dueMillis) throws InterruptedException {
    memberWakeup.await(dueMillis - context.now());
  }

  /** Has the leader's thread wait until a moment, or until {@link #wakeLeader}. */
  void awaitLeader(long dueMillis) throws InterruptedException {
    leaderWakeup.await(dueMillis - context.now());
  }

  /**
   * Runs something on the calling thread as work of this member: {@link Member#current} and {@link
   * Member#guard} give the member and the guard there.
   *
   * @param guard proof that the work may be done
   */
  public <T> T run(Guard guard, Callable<T> work) throws Exception {
    return ScopedValue.where(MEMBER, member).where(GUARD, guard).call(work::call);
  }

  /** Has one thread wait until any other wakes it, but never more than a minute. */
  private static final class Wakeup {
    private static final long MOST_MILLIS = Duration.ofMinutes(1).toMillis();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition woken = lock.newCondition();
    private boolean wakes;

    /** Wakes the thread that waits, or the one that waits next. */
    void wake() {
      lock.lock();
      try {
        wakes = true;
        woken.signalAll();
      } finally {
        lock.unlock();
      }
    }

    /** Waits up to a time; does not wait if that is not positive. */
    void await(long millis) throws InterruptedException {
      lock.lock();
      try {
        long left = TimeUnit.MILLISECONDS.toNanos(Math.min(millis, MOST_MILLIS));
        while (!wakes && left > 0) {
          left = woken.awaitNanos(left);
        }
        wakes = false;
      } finally {
        lock.unlock();
      }
    }
  }
}
