package io.millrace.cluster.lock;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.VersionedDocument;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Acquires a lock, or any one of several, keeps it, and acquires it again if it is lost. Driven by
 * {@link #step}; not safe for use by several threads, but the guards of its leases are.
 */
public abstract class Acquirer {
  private static final Logger LOG = LoggerFactory.getLogger(Acquirer.class);

  private final String what;
  private final Locks locks;
  private final MemberClock clock;
  private @Nullable Lease lease;
  private long nextPollMillis;

  /**
   * Creates an acquirer that holds nothing. Its first step reads the lock.
   *
   * @param what the lock, for messages
   */
  protected Acquirer(String what, Locks locks) {
    this.what = what;
    this.locks = locks;
    this.clock = locks.clock();
    this.nextPollMillis = clock.monotonicMillis();
  }

  /** Acquires one lock. */
  public static Acquirer of(String key, Locks locks, ObservedLocks observedLocks) {
    return new OneLock(key, locks, observedLocks);
  }

  private static final class OneLock extends Acquirer {
    private final String key;
    private final Locks locks;
    private final ObservedLocks observedLocks;

    OneLock(String key, Locks locks, ObservedLocks observedLocks) {
      super("lock " + key, locks);
      this.key = key;
      this.locks = locks;
      this.observedLocks = observedLocks;
    }

    @Override
    protected Optional<Locks.HeldLock> attempt() {
      Optional<VersionedDocument> document = locks.documents().get(key);
      if (document.isEmpty()) {
        observedLocks.forget(key);
        return locks.create(key);
      }
      observedLocks.observe(document.get());
      return observedLocks.isFree(document.get()) ? locks.take(document.get()) : Optional.empty();
    }

    @Override
    protected long nextPoll() {
      return observedLocks.nextRenewal(key).orElse(locks.clock().monotonicMillis());
    }
  }

  /** Reads the lock, and takes it if that is allowed now. */
  protected abstract Optional<Locks.HeldLock> attempt();

  /** When to try again after an attempt that took nothing, by the monotonic clock. */
  protected abstract long nextPoll();

  /** The lease on the lock, if it is held now. */
  public final Optional<Lease> lease() {
    return Optional.ofNullable(lease).filter(Guard::isHeld);
  }

  /**
   * Renews the lock if it is held, and tries to take it otherwise.
   *
   * @return when to call again, by the monotonic clock
   */
  public final long step() {
    Lease mine = lease;
    if (mine != null && mine.step()) {
      return mine.nextMillis();
    }
    if (mine != null) {
      lease = null;
      nextPollMillis = clock.monotonicMillis();
    }
    if (clock.monotonicMillis() >= nextPollMillis) {
      tryToTake();
    }
    return lease == null ? nextPollMillis : lease.nextMillis();
  }

  private void tryToTake() {
    try {
      lease = attempt().map(held -> new Lease(held, locks)).orElse(null);
      if (lease == null) {
        nextPollMillis = nextPoll();
      }
    } catch (ClusterException e) {
      nextPollMillis = clock.monotonicMillis() + locks.terms().retryMillis();
      LOG.debug("{} could not be read or taken; retrying", what, e);
    }
  }

  /** Takes the lock again if it is held, which gives it the next fence. The earlier lease ends. */
  public final void retake() {
    Lease mine = lease().orElse(null);
    if (mine == null) {
      return;
    }
    lease = null;
    try {
      lease = locks.take(mine.document()).map(held -> new Lease(held, locks)).orElse(null);
    } catch (ClusterException e) {
      LOG.debug("{} could not be taken again; it expires with its lease", what, e);
    } finally {
      mine.end();
    }
  }

  /**
   * Releases the lock if it is held. If the release cannot be written, other members take the lock
   * after the lease.
   */
  public final void release() {
    Lease mine = lease;
    lease = null;
    if (mine != null) {
      mine.giveUp();
      released(mine);
    }
  }

  /** Called after {@link #release} of a lock, whether or not that could be written. */
  protected void released(Lease released) {}

  /** Makes the next step read the lock, if it is not held. */
  public final void pollNow() {
    nextPollMillis = clock.monotonicMillis();
  }
}
