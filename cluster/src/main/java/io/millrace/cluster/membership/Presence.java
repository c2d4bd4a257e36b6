package io.millrace.cluster.membership;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.lock.Lock;
import io.millrace.cluster.lock.Locks;
import io.millrace.cluster.lock.Sightings;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a member in the list, and its own lock while it holds no other by which others could tell
 * that it lives. Driven by {@link #step}; not safe for use by several threads.
 */
public final class Presence {
  /** What the keys of the members' own locks begin with; the token follows. */
  public static final String PREFIX = "member/";

  private static final Logger LOG = LoggerFactory.getLogger(Presence.class);

  private final Station station;
  private final Members members;
  private final Lock own;
  private final DeathMarks marks;
  private final boolean heedsMarks;
  private final Sightings sightings;
  private MemberList seen = MemberList.EMPTY;
  private boolean marked;
  private long nextLook = Long.MIN_VALUE;

  /**
   * A member that nobody knows yet.
   *
   * @param heedsMarks whether it stays away from the others while it is marked as dead and works
   * @param sightings takes note of the own locks of all members
   */
  public Presence(Station station, Locks locks, boolean heedsMarks, Sightings sightings) {
    this.sightings = sightings;
    this.station = station;
    this.heedsMarks = heedsMarks;
    this.marks = new DeathMarks(station.documents());
    this.members = new Members(station.documents());
    this.own =
        new Lock(
            PREFIX + station.peer().token(),
            station.documents(),
            locks,
            new Sightings(station.terms(), station.clock()),
            station.clock());
  }

  /** The members as they were seen last. */
  public MemberList members() {
    return seen;
  }

  /** Whether it is marked as dead, and has to end its work before it is trusted again. */
  public boolean isMarked() {
    return marked;
  }

  /**
   * Sees to it that others know of the member.
   *
   * @param holdsPartitions whether it holds partitions, which show that it lives
   * @return when to call again, by the monotonic clock
   */
  public long step(boolean holdsPartitions) {
    long ownDue = Long.MAX_VALUE;
    if (holdsPartitions) {
      own.release();
    } else {
      ownDue = own.step();
    }
    if (station.now() >= nextLook) {
      // Once in a third of the lease, and no two members at the same moment.
      nextLook = station.now() + station.terms().lease().toMillis() / 4 + station.pauseMillis(12);
      look(holdsPartitions);
    }
    return Math.min(ownDue, nextLook);
  }

  private void look(boolean holdsPartitions) {
    try {
      marked = heedsMarks && isMarked(holdsPartitions);
      seen = marked ? members.list() : members.ensure(station.peer());
      // Whoever comes to lead knows by then who lives, and need not begin to wait.
      sightings.see(PREFIX, station.documents().list(PREFIX));
    } catch (ClusterException e) {
      LOG.debug("The list of members cannot be looked at, and will be again", e);
    }
  }

  private boolean isMarked(boolean holdsPartitions) {
    String token = station.peer().token();
    if (!marks.isMarked(token)) {
      return false;
    }
    if (!marked) {
      LOG.warn("This member was marked as dead; it ends its work and comes back");
    }
    return holdsPartitions || !marks.clear(token);
  }

  /** Takes the member out of the list and gives its lock back, as far as that can be written. */
  public void leave() {
    own.release();
    try {
      members.remove(Set.of(station.peer().token()));
    } catch (ClusterException e) {
      LOG.debug("The member is left to the leader to take out of the list", e);
    }
  }
}
