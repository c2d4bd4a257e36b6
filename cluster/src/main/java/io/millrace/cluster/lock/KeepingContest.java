package io.millrace.cluster.lock;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.time.MemberClock;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A contest that keeps what it has won, and looks for it again once that is lost. */
public abstract class KeepingContest implements Contest {
  private static final Logger LOG = LoggerFactory.getLogger(KeepingContest.class);

  private final String what;
  private final Locks locks;
  private final MemberClock clock;
  private @Nullable Tenure tenure;
  private long lookMillis;

  /**
   * A contest that looks as soon as it is driven.
   *
   * @param what what is wanted, for people
   */
  protected KeepingContest(String what, Locks locks, MemberClock clock) {
    this.what = what;
    this.locks = locks;
    this.clock = clock;
    this.lookMillis = clock.monotonicMillis();
  }

  /** Looks, and takes a lock where one may be taken. */
  protected abstract Optional<Held> attempt();

  /** When to look again after an attempt that took nothing, by the monotonic clock. */
  protected abstract long nextLook();

  /** What is kept, though its lease may have ended. */
  final @Nullable Tenure kept() {
    return tenure;
  }

  /** Keeps something else, or nothing. */
  final void keep(@Nullable Tenure other) {
    tenure = other;
  }

  @Override
  public final Optional<Tenure> tenure() {
    return Optional.ofNullable(tenure).filter(Guard::isHeld);
  }

  @Override
  public final long step() {
    Tenure mine = tenure;
    if (mine != null && mine.step()) {
      return mine.nextMillis();
    }
    if (mine != null) {
      tenure = null;
      lookMillis = clock.monotonicMillis();
    }
    if (clock.monotonicMillis() >= lookMillis) {
      tryFor();
    }
    return tenure == null ? lookMillis : tenure.nextMillis();
  }

  private void tryFor() {
    try {
      tenure = attempt().map(held -> new Tenure(held, locks, clock)).orElse(null);
      if (tenure == null) {
        lookMillis = nextLook();
      }
    } catch (ClusterException e) {
      lookMillis = clock.monotonicMillis() + locks.terms().renewalMillis();
      LOG.debug("{} could not be tried for, and will be again", what, e);
    }
  }

  @Override
  public final void release() {
    Tenure mine = tenure;
    tenure = null;
    if (mine == null) {
      return;
    }
    try {
      mine.release();
    } catch (ClusterException e) {
      LOG.debug("{} is left to its lease", mine.key(), e);
    }
  }
}
