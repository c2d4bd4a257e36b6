package io.millrace.cluster.member;

import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.leader.Leader;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.lock.LeaseTerms;
import io.millrace.cluster.lock.MemberClock;
import io.millrace.cluster.membership.MemberContext;
import io.millrace.cluster.membership.MemberList;
import io.millrace.cluster.membership.Peer;
import java.time.Duration;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running member of a cluster. Safe for use by any number of threads.
 *
 * <pre>{@code
 * try (Member member = Member.start(documents, 4, LeaseTerms.DEFAULT, Duty.of(work))) {
 *   …
 * }
 * }</pre>
 */
public final class Member implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Member.class);
  private static final long LEADER_LOOK_MILLIS = 100;

  private final MemberContext context;
  private final MemberRuntime runtime;
  private final Leader leader;
  private final MemberLoop loop;
  private final Thread loopThread;
  private final Thread leaderThread;
  private volatile boolean closes;
  private volatile boolean drains;

  private Member(MemberContext context, Duty duty) {
    this.context = context;
    this.runtime = new MemberRuntime(this, context);
    this.leader = duty.leader().apply(runtime);
    this.loop = new MemberLoop(context, duty.work().apply(runtime), duty.mode(), leader);
    this.loopThread = Thread.ofVirtual().name("member").unstarted(this::drive);
    this.leaderThread = Thread.ofVirtual().name("leader").unstarted(this::lead);
  }

  /**
   * Starts a member with a token of its own.
   *
   * @param documents what the members share; not closed with the member
   * @param workers how many partitions it works on at a time, at least 1
   * @param terms how long locks are held; the same for all members
   * @param duty the work of the members; the same for all
   */
  public static Member start(
      VersionedDocuments documents, int workers, LeaseTerms terms, Duty duty) {
    Peer peer = new Peer(UUID.randomUUID().toString(), workers);
    Member member =
        new Member(
            new MemberContext(
                peer, documents, terms, MemberClock.system(), RandomGenerator.getDefault()),
            duty);
    member.loopThread.start();
    member.leaderThread.start();
    return member;
  }

  /**
   * The member whose work this thread does. Threads that the work starts do not know it.
   *
   * @throws IllegalStateException on a thread that does no member's work
   */
  public static Member current() {
    return MemberRuntime.MEMBER.orElseThrow(
        () -> new IllegalStateException("no member works on this thread"));
  }

  /**
   * The proof that the partition is held on which this thread works.
   *
   * @throws IllegalStateException on a thread that works on none
   */
  public static Guard guard() {
    return MemberRuntime.GUARD.orElseThrow(
        () -> new IllegalStateException("no partition is worked on here"));
  }

  /** The token that identifies this member. */
  public String token() {
    return context.token();
  }

  /** What all parts of this member use: the documents that members share, clocks, terms. */
  public MemberContext context() {
    return context;
  }

  /** Whether this member leads for certain. */
  public boolean isLeader() {
    return loop.leading().isPresent();
  }

  /** Whether it was told to stop. */
  public boolean isClosed() {
    return drains || closes;
  }

  /** The members as this one saw them last. */
  public MemberList members() {
    return loop.members();
  }

  private void drive() {
    boolean told = false;
    while (!closes) {
      long due = context.now() + LEADER_LOOK_MILLIS;
      try {
        if (drains && !told) {
          told = true;
          loop.drain();
        }
        due = loop.step();
      } catch (RuntimeException | Error e) {
        // Without this thread every lock is lost: whatever was thrown, it goes on.
        logFailure("A step of the member failed, and will be tried again", e);
      }
      closes |= told && loop.held() == 0;
      pause(closes ? context.now() : due);
    }
    loop.leave();
  }

  private void pause(long dueMillis) {
    try {
      runtime.awaitMember(dueMillis);
    } catch (InterruptedException e) {
      closes = true;
    }
  }

  private void lead() {
    try {
      while (!isClosed()) {
        runtime.awaitLeader(next());
      }
    } catch (InterruptedException e) {
      LOG.debug("The member leads no more");
    } finally {
      leader.rest();
    }
  }

  /** Leads, if this member has the lock; returns when to look again. */
  private long next() {
    try {
      return loop.leading().map(this::round).orElseGet(this::rest);
    } catch (RuntimeException | Error e) {
      logFailure("The leader's step failed, and will be tried again", e);
      return context.now() + LEADER_LOOK_MILLIS;
    }
  }

  private long rest() {
    leader.rest();
    return context.now() + LEADER_LOOK_MILLIS;
  }

  private long round(Guard guard) {
    try {
      return leader.step(guard);
    } catch (RuntimeException | Error e) {
      // Users' code: it is asked again. A leader whose thread has ended would keep its lock.
      logFailure("The leader's work could not be given out, and will be tried again", e);
      return context.now() + context.leaseMillis() / 4;
    }
  }

  /** A closed member interrupts its threads, so what fails then is no failure. */
  private void logFailure(String what, Throwable thrown) {
    if (isClosed() && thrown instanceof RuntimeException) {
      LOG.debug("{}, but the member is closed", what, thrown);
    } else {
      LOG.warn(what, thrown);
    }
  }

  /**
   * Stops work and gives everything back, so that others go on at once. Waits for the work until
   * its leases end; what has not stopped by then is left to them.
   */
  @Override
  public void close() {
    drains = true;
    runtime.wakeMember();
    leaderThread.interrupt();
    try {
      if (!loopThread.join(context.terms().lease().plus(Duration.ofSeconds(5)))) {
        closes = true;
        loopThread.interrupt();
        loopThread.join();
      }
      leaderThread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
