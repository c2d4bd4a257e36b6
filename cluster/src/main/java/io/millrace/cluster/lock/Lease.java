package io.millrace.cluster.lock;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.VersionedDocument;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A lock from the moment it is taken until it is lost or released. One thread renews it; any thread
 * may use it as a {@link Guard}.
 */
public final class Lease implements Guard {
  private static final Logger LOG = LoggerFactory.getLogger(Lease.class);

  private final Locks locks;
  private final MemberClock clock;
  private volatile Locks.HeldLock held;
  private volatile boolean ended;
  private long nextMillis;

  /** The lease on a lock that was just taken. */
  public Lease(Locks.HeldLock taken, Locks locks) {
    this.held = taken;
    this.locks = locks;
    this.clock = locks.clock();
    this.nextMillis = taken.renewMillis();
  }

  /** The key of the lock. */
  public String key() {
    return held.key();
  }

  /** The lock's document as this member wrote it last. */
  VersionedDocument document() {
    return new VersionedDocument(held.key(), held.version(), held.lock().json());
  }

  @Override
  public long fence() {
    return held.fence();
  }

  @Override
  public Duration remaining() {
    long millis = held.untilMillis() - clock.monotonicMillis();
    return ended || millis <= 0 ? Duration.ZERO : Duration.ofMillis(millis);
  }

  /**
   * Renews the lease if that is due.
   *
   * @return whether the lock is still held
   */
  public boolean step() {
    if (isHeld() && clock.monotonicMillis() >= nextMillis) {
      renew();
    }
    ended |= !isHeld();
    return !ended;
  }

  /** When to call {@link #step} next, by the monotonic clock. */
  public long nextMillis() {
    return Math.min(nextMillis, held.untilMillis());
  }

  private void renew() {
    try {
      Optional<Locks.HeldLock> renewed = locks.renew(held);
      if (renewed.isPresent()) {
        held = renewed.get();
        nextMillis = held.renewMillis();
      } else {
        ended = true;
      }
    } catch (ClusterException e) {
      nextMillis = clock.monotonicMillis() + locks.terms().retryMillis();
      LOG.debug("{} could not be renewed; retrying", held.key(), e);
    }
  }

  /** Marks the lease as lost. */
  void end() {
    ended = true;
  }

  /**
   * Releases the lock. The lease is lost from now on, whether or not the release is written.
   *
   * @return whether the lock was still held and its release was written
   */
  public boolean release() {
    ended = true;
    return locks.release(held);
  }

  /**
   * Releases the lock. If the release cannot be written, other members take the lock after the
   * lease.
   */
  public void giveUp() {
    try {
      var _ = release();
    } catch (ClusterException e) {
      LOG.debug("{} could not be released; it expires with its lease", key(), e);
    }
  }

  /**
   * Marks the partition as done, and releases it.
   *
   * @return whether it was still held and is now done
   */
  public boolean finish() {
    boolean done = locks.finish(held);
    ended = true;
    return done;
  }
}
