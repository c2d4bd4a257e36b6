package io.millrace.cluster.shared;

import io.millrace.cluster.documents.Keys;
import io.millrace.cluster.lock.Lease;
import io.millrace.cluster.lock.Locks;
import io.millrace.cluster.lock.MemberClock;
import io.millrace.cluster.lock.ObservedLocks;
import io.millrace.cluster.member.Member;
import io.millrace.cluster.membership.MemberContext;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The state that all copies of the same lock, semaphore or reporter in one member share.
 * Thread-safe.
 */
final class SharedState {
  private static final int MAX_NAME_BYTES = 300;

  // Lambdas deserialize copies, which only know their member. The map is weak because members are
  // closed.
  private static final Map<Member, SharedState> ALL = new WeakHashMap<>();

  private final MemberContext context;
  private final Locks locks;
  private final Map<String, LocalWaiters> lines = new ConcurrentHashMap<>();
  private final Map<String, StatusReporter.Writer> reporters = new ConcurrentHashMap<>();

  private SharedState(MemberContext context) {
    this.context = context;
    this.locks = context.newLocks();
  }

  static SharedState of(Member member) {
    synchronized (ALL) {
      return ALL.computeIfAbsent(member, one -> new SharedState(one.context()));
    }
  }

  /** The member's context, with a source of randomness for the calling thread. */
  MemberContext context() {
    return new MemberContext(
        context.peer(),
        context.documents(),
        context.terms(),
        context.clock(),
        RandomGenerator.getDefault());
  }

  /** The member's operations on users' locks. */
  Locks locks() {
    return locks;
  }

  /** The member's threads that wait for the lock or semaphore with this key. */
  LocalWaiters line(String key) {
    return lines.computeIfAbsent(key, _ -> new LocalWaiters(context.newObservedLocks()));
  }

  /** The writer of the member's reports with this name. */
  StatusReporter.Writer reporter(String name) {
    return reporters.computeIfAbsent(name, one -> new StatusReporter.Writer(context, one));
  }

  /**
   * Checks the name of a shared object, which becomes part of the keys of documents.
   *
   * @param what the kind of object, for messages
   * @throws IllegalArgumentException naming what is wrong
   */
  static String checkName(String what, String name) {
    int length = name.getBytes(StandardCharsets.UTF_8).length;
    if (length < 1 || length > MAX_NAME_BYTES) {
      throw new IllegalArgumentException(
          "the name of a %s has 1 to %d bytes, not %d".formatted(what, MAX_NAME_BYTES, length));
    }
    try {
      Keys.check(name);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "'%s' cannot be the name of a %s: %s".formatted(name, what, e.getMessage()), e);
    }
    return name;
  }

  /** Like {@link #checkName}, for a name that is followed by another one in keys. */
  static String checkNamePart(String what, String name) {
    if (name.contains("/")) {
      throw new IllegalArgumentException(
          "the name of a %s has no '/', and '%s' has one".formatted(what, name));
    }
    return checkName(what, name);
  }

  /**
   * A lock that was acquired.
   *
   * @param lease the lease on it
   * @param acquirer the acquirer that releases it
   */
  record Acquired(Lease lease, FairAcquirer acquirer) {}

  /**
   * The threads of one member that wait for the same lock or semaphore. The first one tries to
   * acquire it, and the others wait for their turn. So no two of them write the same document, and
   * each one knows what the previous one saw. Safe for use by any number of threads.
   */
  static final class LocalWaiters {
    private final ReentrantLock turn = new ReentrantLock(true);
    private final Semaphore signals = new Semaphore(0);
    private final Set<Thread> holders = ConcurrentHashMap.newKeySet();
    private final Set<String> released = ConcurrentHashMap.newKeySet();
    private final ObservedLocks observedLocks;

    LocalWaiters(ObservedLocks observedLocks) {
      this.observedLocks = observedLocks;
    }

    /** The locks as last seen; used by the first thread. */
    ObservedLocks observedLocks() {
      return observedLocks;
    }

    /**
     * Waits for this thread's turn, and then for the lock.
     *
     * @param acquirers creates acquirers, whose first step reads the lock
     * @return the lock; null if it could not be acquired in time
     */
    @Nullable Acquired acquire(Supplier<FairAcquirer> acquirers, MemberClock clock, Duration max)
        throws InterruptedException {
      long end = clock.monotonicMillis() + max.toMillis();
      if (!turn.tryLock(max.toMillis(), TimeUnit.MILLISECONDS)) {
        return null;
      }
      FairAcquirer acquirer =
          acquirers.get().with(this::takeReleased, signals::release, !max.isZero());
      try {
        while (true) {
          signals.drainPermits();
          long due = acquirer.step();
          Lease lease = acquirer.lease().orElse(null);
          if (lease != null) {
            return new Acquired(lease, acquirer);
          }
          long now = clock.monotonicMillis();
          if (now >= end) {
            return null;
          }
          if (signals.tryAcquire(Math.min(due, end) - now, TimeUnit.MILLISECONDS)) {
            acquirer.pollNow();
          }
        }
      } finally {
        acquirer.stopWaiting();
        turn.unlock();
      }
    }

    /** Records that a thread of this member holds the lock or a permit. */
    void entered(Thread thread) {
      holders.add(thread);
    }

    /**
     * Records that a thread of this member does not hold the lock any more, and makes the first
     * waiting thread read it at once.
     *
     * @param key the lock that it released or lost
     */
    void left(Thread thread, String key) {
      holders.remove(thread);
      released.add(key);
      signals.release();
    }

    /** The locks that threads of this member released or lost since the last call. */
    Set<String> takeReleased() {
      Set<String> keys = Set.copyOf(released);
      released.removeAll(keys);
      return keys;
    }

    boolean isHolder(Thread thread) {
      return holders.contains(thread);
    }
  }
}
