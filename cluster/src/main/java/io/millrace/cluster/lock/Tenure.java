package io.millrace.cluster.lock;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.time.MemberClock;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The time from the taking of a lock until it is lost or given back. One thread keeps it alive; any
 * may ask its {@link Guard}.
 */
public final class Tenure implements Guard {
  private static final Logger LOG = LoggerFactory.getLogger(Tenure.class);

  /** Renewals that fail are repeated after this part of the time between two of them. */
  private static final int RETRIES = 4;

  private final Locks locks;
  private final MemberClock clock;
  private volatile Held held;
  private volatile boolean ended;
  private long nextMillis;

  /** Begins with a lock that was taken just now. */
  public Tenure(Held taken, Locks locks, MemberClock clock) {
    this.held = taken;
    this.locks = locks;
    this.clock = clock;
    this.nextMillis = taken.renewMillis();
  }

  /** The key of the lock. */
  public String key() {
    return held.key();
  }

  /** The lock's document by the last word of this member. */
  VersionedDocument document() {
    return new VersionedDocument(held.key(), held.version(), LockForm.write(held.lock()));
  }

  /** What the lock's document says by the last word of this member. */
  public LockDocument lock() {
    return held.lock();
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
   * Renews the lease where that is due.
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
      Optional<Held> renewed = locks.renew(held);
      if (renewed.isPresent()) {
        held = renewed.get();
        nextMillis = held.renewMillis();
      } else {
        ended = true;
      }
    } catch (ClusterException e) {
      nextMillis = clock.monotonicMillis() + locks.terms().renewalMillis() / RETRIES;
      LOG.debug("{} could not be renewed, and will be tried again", held.key(), e);
    }
  }

  /** It counts as lost from here on. */
  void end() {
    ended = true;
  }

  /**
   * Gives the lock back. It counts as lost from here on, whether or not that is written.
   *
   * @return whether it was still held and others can see that it is not any more
   */
  public boolean release() {
    ended = true;
    return locks.release(held);
  }

  /**
   * Marks the partition as done and gives it back.
   *
   * @return whether it was still held, and is done by this tenure
   */
  public boolean finish() {
    boolean done = locks.finish(held);
    ended = true;
    return done;
  }
}
