package io.millrace.cluster.member;

import io.millrace.cluster.leader.Leader;
import io.millrace.cluster.lock.Acquirer;
import io.millrace.cluster.lock.Lease;
import io.millrace.cluster.lock.Locks;
import io.millrace.cluster.membership.MemberContext;
import io.millrace.cluster.membership.MemberList;
import io.millrace.cluster.membership.MemberRegistration;
import io.millrace.cluster.partition.PartitionHandler;
import io.millrace.cluster.partition.PartitionRunner;
import java.util.Optional;

/**
 * The main loop of a member: competes for the leader's lock, keeps the member registered, and takes
 * partitions. Driven by {@link #step}; used by one thread unless stated otherwise.
 */
public final class MemberLoop {
  private final Acquirer candidate;
  private final MemberRegistration registration;
  private final PartitionRunner runner;
  private final Leader leader;
  private volatile Optional<Lease> leading = Optional.empty();

  /**
   * Creates a loop that holds nothing.
   *
   * @param leader the leader, which runs on another thread
   */
  public MemberLoop(
      MemberContext context, PartitionHandler handler, PartitionRunner.Mode mode, Leader leader) {
    Locks locks = context.newLocks();
    this.candidate = Acquirer.of(Leader.KEY, locks, context.newObservedLocks());
    this.registration =
        new MemberRegistration(context, locks, mode.isAddressed(), leader.observedLocks());
    this.runner = new PartitionRunner(context, locks, handler, mode, leader.observedLocks());
    this.leader = leader;
  }

  /**
   * Renews locks that are held, and takes free ones.
   *
   * @return when to call again, by the monotonic clock; sooner if an attempt ends
   */
  public long step() {
    if (leader.takeGenerationRequest()) {
      candidate.retake();
    }
    long candidateDue = candidate.step();
    leading = candidate.lease();
    long registrationDue = registration.step(runner.held() > 0);
    runner.suspend(registration.isMarked());
    long runnerDue = runner.step(registration.members());
    if (runner.needsFreshMembers()) {
      registrationDue = registration.pollSoon();
    }
    return Math.min(candidateDue, Math.min(registrationDue, runnerDue));
  }

  /** The lease of the leader's lock, if this member has it. May be called by any thread. */
  public Optional<Lease> leading() {
    return leading.filter(Lease::isHeld);
  }

  /** The members as last read. */
  public MemberList members() {
    return registration.members();
  }

  /** The number of partitions being worked on. */
  public int held() {
    return runner.held();
  }

  /** Stops all work; call {@link #step} until {@link #held} is 0. */
  public void drain() {
    runner.drain();
  }

  /** Releases everything, so that other members need not wait for leases to end. */
  public void leave() {
    registration.leave();
    candidate.release();
    leading = Optional.empty();
  }
}
