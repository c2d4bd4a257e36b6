package io.millrace.cluster.membership;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.lock.Acquirer;
import io.millrace.cluster.lock.Locks;
import io.millrace.cluster.lock.ObservedLocks;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a member in the list of members. The locks of its partitions show that it is alive; while
 * it holds none, it holds a lock of its own. Driven by {@link #step}; not thread-safe.
 */
public final class MemberRegistration {
  /** The prefix of the keys of members' own locks; the token follows. */
  public static final String PREFIX = "member/";

  /** The minimum time between two reads of the list. */
  private static final long SOON_MILLIS = 300;

  private static final Logger LOG = LoggerFactory.getLogger(MemberRegistration.class);

  private final MemberContext context;
  private final Acquirer own;
  private final boolean respectsMarks;
  private final ObservedLocks observedLocks;
  private MemberList seen = MemberList.EMPTY;
  private boolean marked;
  private long nextPoll = Long.MIN_VALUE;
  private long polledMillis;

  /**
   * Creates the registration of a member that is not in the list yet.
   *
   * @param respectsMarks whether it stays out of the list while it is marked as dead and still has
   *     work
   * @param observedLocks records the members' own locks
   */
  public MemberRegistration(
      MemberContext context, Locks locks, boolean respectsMarks, ObservedLocks observedLocks) {
    this.observedLocks = observedLocks;
    this.context = context;
    this.respectsMarks = respectsMarks;
    this.own = Acquirer.of(PREFIX + context.token(), locks, context.newObservedLocks());
  }

  /** The members as last read. */
  public MemberList members() {
    return seen;
  }

  /** Whether the member is marked as dead, and must end its work before it gets new work. */
  public boolean isMarked() {
    return marked;
  }

  /**
   * Keeps the member in the list and its lock held, as needed.
   *
   * @param holdsPartitions whether it holds partitions, whose locks show that it is alive
   * @return when to call again, by the monotonic clock
   */
  public long step(boolean holdsPartitions) {
    long ownDue = Long.MAX_VALUE;
    if (holdsPartitions) {
      own.release();
    } else {
      ownDue = own.step();
    }
    if (context.now() >= nextPoll) {
      // A quarter to a third of the lease, random so that members do not read at the same moment.
      nextPoll = context.now() + context.leaseMillis() / 4 + context.pauseMillis(12);
      poll(holdsPartitions);
    }
    return Math.min(ownDue, nextPoll);
  }

  /** Makes it read the list soon; returns when to call {@link #step} for that. */
  public long pollSoon() {
    nextPoll = Math.min(nextPoll, polledMillis + SOON_MILLIS);
    return nextPoll;
  }

  private void poll(boolean holdsPartitions) {
    polledMillis = context.now();
    try {
      marked = respectsMarks && isMarked(holdsPartitions);
      seen =
          marked
              ? MemberList.read(context.documents())
              : MemberList.add(context.documents(), context.peer());
      // A member that becomes the leader then knows at once which members are alive.
      observedLocks.observe(PREFIX, context.documents().list(PREFIX));
    } catch (ClusterException e) {
      LOG.debug("The list of members could not be read; retrying", e);
    }
  }

  private boolean isMarked(boolean holdsPartitions) {
    String token = context.token();
    if (!DeathMarks.isMarked(context.documents(), token)) {
      return false;
    }
    if (!marked) {
      LOG.warn("This member was marked as dead; it ends its work and registers again");
    }
    return holdsPartitions || !DeathMarks.clear(context.documents(), token);
  }

  /** Removes the member from the list and releases its lock, as far as both can be written. */
  public void leave() {
    own.release();
    try {
      MemberList.remove(context.documents(), Set.of(context.token()));
    } catch (ClusterException e) {
      LOG.debug("The member could not be removed from the list; the leader will do it", e);
    }
  }
}
