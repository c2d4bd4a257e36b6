package io.millrace.cluster.member;

import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.leader.Leader;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.lock.LeaseTerms;
import io.millrace.cluster.membership.MemberList;
import io.millrace.cluster.membership.Peer;
import io.millrace.cluster.membership.Station;
import io.millrace.cluster.time.MemberClock;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.Callable;
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
  private static final ScopedValue<Member> CURRENT = ScopedValue.newInstance();
  private static final ScopedValue<Guard> GUARD = ScopedValue.newInstance();

  private final Station station;
  private final Alarm alarm = new Alarm();
  private final Alarm leaderAlarm = new Alarm();
  private final Leader leader;
  private final MemberLoop loop;
  private final Thread loopThread;
  private final Thread leaderThread;
  private volatile boolean closes;
  private volatile boolean drains;

  private Member(Station station, Duty duty) {
    this.station = station;
    Seat seat = new OwnSeat();
    this.leader = duty.leader().apply(seat);
    this.loop = new MemberLoop(station, duty.work().apply(seat), duty.custom(), leader);
    this.loopThread = Thread.ofVirtual().name("member").unstarted(this::drive);
    this.leaderThread = Thread.ofVirtual().name("leader").unstarted(this::lead);
  }

  /**
   * Starts a member with a token of its own.
   *
   * @param documents what the members share; not closed with the member
   * @param workers how many partitions it works on at a time, at least 1
   * @param terms how long locks are held; the same for all members
   * @param duty what the members are there for; the same for all
   */
  public static Member start(
      VersionedDocuments documents, int workers, LeaseTerms terms, Duty duty) {
    Peer peer = new Peer(UUID.randomUUID().toString(), workers);
    Member member =
        new Member(
            new Station(peer, documents, terms, MemberClock.system(), RandomGenerator.getDefault()),
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
    return CURRENT.orElseThrow(() -> new IllegalStateException("no member works on this thread"));
  }

  /**
   * What proves that the partition is held which this thread works on.
   *
   * @throws IllegalStateException on a thread that works on none
   */
  public static Guard guard() {
    return GUARD.orElseThrow(() -> new IllegalStateException("no partition is worked on here"));
  }

  /** What tells this member from all others. */
  public String token() {
    return station.peer().token();
  }

  /** What this member stands on: the documents that all members share, clocks, terms. */
  public Station station() {
    return station;
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

  private final class OwnSeat implements Seat {
    @Override
    public Station station() {
      return station;
    }

    @Override
    public void callMember() {
      alarm.ring();
    }

    @Override
    public void callLeader() {
      leaderAlarm.ring();
    }

    @Override
    public <T> T carry(Guard guard, Callable<T> work) throws Exception {
      return ScopedValue.where(CURRENT, Member.this).where(GUARD, guard).call(work::call);
    }
  }

  private void drive() {
    boolean told = false;
    while (!closes) {
      long due = station.now() + LEADER_LOOK_MILLIS;
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
      pause(closes ? station.now() : due);
    }
    loop.leave();
  }

  private void pause(long dueMillis) {
    try {
      alarm.await(Alarm.until(dueMillis, station.now()));
    } catch (InterruptedException e) {
      closes = true;
    }
  }

  private void lead() {
    try {
      while (!isClosed()) {
        long due = next();
        leaderAlarm.await(Alarm.until(due, station.now()));
      }
    } catch (InterruptedException e) {
      LOG.debug("The member leads no more");
    } finally {
      leader.rest();
    }
  }

  /** Leads, if it is this member's turn; gives when to look again. */
  private long next() {
    try {
      return loop.leading().map(this::turn).orElseGet(this::rest);
    } catch (RuntimeException | Error e) {
      logFailure("The leader's step failed, and will be tried again", e);
      return station.now() + LEADER_LOOK_MILLIS;
    }
  }

  private long rest() {
    leader.rest();
    return station.now() + LEADER_LOOK_MILLIS;
  }

  private long turn(Guard guard) {
    try {
      return leader.step(guard);
    } catch (RuntimeException | Error e) {
      // Users' code: it is asked again. A leader whose thread has ended would keep its lock.
      logFailure("The leader's work could not be given out, and will be tried again", e);
      return station.now() + station.terms().lease().toMillis() / 4;
    }
  }

  /** What fails because the member is closed, which interrupts its threads, is no failure. */
  private void logFailure(String what, Throwable thrown) {
    if (isClosed() && thrown instanceof RuntimeException) {
      LOG.debug("{}, but the member is closed", what, thrown);
    } else {
      LOG.warn(what, thrown);
    }
  }

  /**
   * Has work stop and gives everything back, so that others go on at once. Waits for work as long
   * as its leases last; what has not stopped by then is left to them.
   */
  @Override
  public void close() {
    drains = true;
    alarm.ring();
    leaderThread.interrupt();
    try {
      if (!loopThread.join(station.terms().lease().plus(Duration.ofSeconds(5)))) {
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
