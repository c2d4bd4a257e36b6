package io.millrace.cluster.member;

import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.leader.Leader;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.lock.Lease;
import io.millrace.cluster.lock.LeaseTerms;
import io.millrace.cluster.lock.MemberClock;
import io.millrace.cluster.membership.MemberContext;
import io.millrace.cluster.membership.MemberList;
import io.millrace.cluster.membership.Peer;
import io.millrace.work.Step;
import io.millrace.work.StepLoop;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running member of a cluster. Safe for use by any number of threads.
 *
 * <pre>{@code
 * try (Member member = Member.start(documents, 4, LeaseTerms.DEFAULT, ClusterWork.of(work))) {
 *   …
 * }
 * }</pre>
 */
public final class Member implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Member.class);
  private static final ScopedValue<Member> CURRENT = ScopedValue.newInstance();
  private static final ScopedValue<Guard> GUARD = ScopedValue.newInstance();

  /** The interval at which a member that does not lead checks whether it does now. */
  private static final long LEADER_POLL_MILLIS = 100;

  private final MemberContext context;
  private final Leader leader;
  private final MemberLoop loop;
  private final StepLoop memberSteps;
  private final StepLoop leaderSteps;
  private volatile boolean closing;
  private boolean draining;

  private Member(MemberContext context, ClusterWork clusterWork) {
    this.context = context;
    this.leader = clusterWork.leader().apply(this);
    this.loop =
        new MemberLoop(context, clusterWork.handler().apply(this), clusterWork.mode(), leader);
    InstantSource clock = () -> Instant.ofEpochMilli(context.now());
    this.memberSteps = new StepLoop(Thread.ofVirtual().name("member"), clock, _ -> step());
    this.leaderSteps = new StepLoop(Thread.ofVirtual().name("leader"), clock, _ -> lead());
    var _ = memberSteps.onEnd().thenRun(this::end);
    var _ = leaderSteps.onEnd().thenRun(leader::standBy);
  }

  /**
   * Starts a member with a token of its own.
   *
   * @param documents the documents that the members share; not closed with the member
   * @param workers how many partitions it works on at a time, at least 1
   * @param terms how long locks are held; the same for all members
   * @param clusterWork the work of the members; the same for all
   */
  public static Member start(
      VersionedDocuments documents, int workers, LeaseTerms terms, ClusterWork clusterWork) {
    Peer peer = new Peer(UUID.randomUUID().toString(), workers);
    Member member =
        new Member(
            new MemberContext(
                peer, documents, terms, MemberClock.system(), RandomGenerator.getDefault()),
            clusterWork);
    member.memberSteps.start();
    member.leaderSteps.start();
    return member;
  }

  /**
   * The member whose work this thread runs. Threads that the work starts do not know it.
   *
   * @throws IllegalStateException if this thread does not run work of a member
   */
  public static Member current() {
    return CURRENT.orElseThrow(
        () -> new IllegalStateException("this thread does not run work of a member"));
  }

  /**
   * The guard of the partition that this thread works on.
   *
   * @throws IllegalStateException if this thread does not work on a partition
   */
  public static Guard guard() {
    return GUARD.orElseThrow(
        () -> new IllegalStateException("this thread does not work on a partition"));
  }

  /** The token that identifies this member. */
  public String token() {
    return context.token();
  }

  /** The documents, clocks and lease terms of this member. */
  public MemberContext context() {
    return context;
  }

  /** Whether this member leads for certain. */
  public boolean isLeader() {
    return loop.leading().isPresent();
  }

  /** Whether it is closed, or being closed. */
  public boolean isClosed() {
    return closing;
  }

  /** The members as last read by this one. */
  public MemberList members() {
    return loop.members();
  }

  /**
   * Runs something on the calling thread as work of this member: {@link #current} and {@link
   * #guard} return the member and the guard there.
   *
   * @param guard proof that the work may be done
   */
  public <T> T run(Guard guard, Callable<T> work) throws Exception {
    return ScopedValue.where(CURRENT, this).where(GUARD, guard).call(work::call);
  }

  /** Makes the member check its partitions at once; called when an attempt has ended. */
  void wake() {
    memberSteps.wake();
  }

  /** Makes the next round of the leader start at once. */
  public void wakeLeader() {
    leaderSteps.wake();
  }

  private Instant step() {
    if (closing && !draining) {
      draining = true;
      loop.drain();
    }
    boolean led = loop.leading().isPresent();
    long due = loop.step();
    if (!led && loop.leading().isPresent()) {
      wakeLeader();
    }
    return draining && loop.held() == 0 ? Step.FINISHED : Instant.ofEpochMilli(due);
  }

  /** Called when the loop has ended for any reason. */
  private void end() {
    loop.drain();
    loop.leave();
  }

  /** Leads if this member has the lock. */
  private Instant lead() {
    Optional<Lease> leading = loop.leading();
    if (leading.isEmpty()) {
      leader.standBy();
      return Instant.ofEpochMilli(context.now() + LEADER_POLL_MILLIS);
    }
    try {
      Instant due = Instant.ofEpochMilli(leader.step(leading.get()));
      if (leader.wantsNewGeneration()) {
        memberSteps.wake();
      }
      return due;
    } catch (RuntimeException | Error e) {
      // Users' code failed; closing a member interrupts it.
      if (closing && e instanceof RuntimeException) {
        LOG.debug("The leader's work failed while the member was closed", e);
      } else {
        LOG.warn("The leader's work could not be assigned; retrying", e);
      }
      return Instant.ofEpochMilli(context.now() + context.leaseMillis() / 4);
    }
  }

  /**
   * Stops the work and releases everything, so that other members can continue at once. Waits for
   * the work until its leases end. Work that has not stopped by then keeps its partition until the
   * lease ends.
   */
  @Override
  public void close() {
    closing = true;
    var _ = leaderSteps.close(Duration.ZERO);
    var _ = memberSteps.close(context.terms().lease().plus(Duration.ofSeconds(5)));
    memberSteps.close();
    leaderSteps.close();
  }
}
