package io.millrace.cluster.member;

import io.millrace.cluster.leader.Leader;
import io.millrace.cluster.lock.Lock;
import io.millrace.cluster.lock.Locks;
import io.millrace.cluster.lock.Sightings;
import io.millrace.cluster.lock.Tenure;
import io.millrace.cluster.membership.MemberList;
import io.millrace.cluster.membership.Presence;
import io.millrace.cluster.membership.Station;
import io.millrace.cluster.partition.Follower;
import io.millrace.cluster.partition.Work;
import java.util.Optional;

/**
 * What a member does all the time, beside the work itself. Driven by {@link #step}; used by one
 * thread but where said otherwise.
 */
public final class MemberLoop {
  private final Lock candidate;
  private final Presence presence;
  private final Follower follower;
  private final Leader leader;
  private volatile Optional<Tenure> leading = Optional.empty();

  /**
   * A member that does nothing yet.
   *
   * @param leader what it does when it leads, on another thread
   */
  public MemberLoop(Station station, Work work, Follower.Custom custom, Leader leader) {
    Locks locks =
        new Locks(station.documents(), station.peer().token(), station.terms(), station.clock());
    this.candidate =
        new Lock(
            Leader.KEY,
            station.documents(),
            locks,
            new Sightings(station.terms(), station.clock()),
            station.clock());
    this.presence = new Presence(station, locks, custom.isAddressed(), leader.sightings());
    this.follower = new Follower(station, locks, work, custom, leader.sightings());
    this.leader = leader;
  }

  /**
   * Keeps what is held, and takes what may be had.
   *
   * @return when to call again, by the monotonic clock; sooner where an attempt ends
   */
  public long step() {
    if (leader.takeWish()) {
      candidate.advance();
    }
    long candidateDue = candidate.step();
    leading = candidate.tenure();
    long presenceDue = presence.step(follower.held() > 0);
    follower.suspend(presence.isMarked());
    long followerDue = follower.step(presence.members());
    return Math.min(candidateDue, Math.min(presenceDue, followerDue));
  }

  /** The lead, where this member has it. May be asked by any thread. */
  public Optional<Tenure> leading() {
    return leading.filter(Tenure::isHeld);
  }

  /** The members as they were seen last. */
  public MemberList members() {
    return presence.members();
  }

  /** How many partitions are worked on. */
  public int held() {
    return follower.held();
  }

  /** Has all work stop; {@link #step} goes on until {@link #held} is 0. */
  public void drain() {
    follower.drain();
  }

  /** Gives everything back, so that others need not wait for leases to end. */
  public void leave() {
    presence.leave();
    candidate.release();
    leading = Optional.empty();
  }
}
