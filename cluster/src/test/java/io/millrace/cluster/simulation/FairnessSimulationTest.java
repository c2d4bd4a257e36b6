package io.millrace.cluster.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cluster.lock.Acquirer;
import io.millrace.cluster.lock.Lease;
import io.millrace.cluster.lock.LeaseTerms;
import io.millrace.cluster.membership.MemberContext;
import io.millrace.cluster.membership.Peer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToLongFunction;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Members that release a lock and want it again at once, without faults, at the default lease. */
final class FairnessSimulationTest {
  private static final long SOON_MILLIS = 300;
  private static final long SEEDS = 20;

  @Test
  void a_released_lock_reaches_a_waiting_member_soon() {
    assertThat(worst(ContendedLocks.namedLock(), 2, Run::longestPause))
        .isLessThanOrEqualTo(SOON_MILLIS);
    assertThat(worst(ContendedLocks.namedLock(), 4, Run::longestPause))
        .isLessThanOrEqualTo(SOON_MILLIS);
  }

  @Test
  void a_released_permit_reaches_a_waiting_member_soon() {
    assertThat(worst(ContendedLocks.semaphore(1), 3, Run::longestPause))
        .isLessThanOrEqualTo(SOON_MILLIS);
    assertThat(worst(ContendedLocks.semaphore(2), 4, Run::longestPause))
        .isLessThanOrEqualTo(SOON_MILLIS);
    assertThat(worst(ContendedLocks.semaphore(3), 8, Run::longestPause))
        .isLessThanOrEqualTo(SOON_MILLIS);
  }

  @Test
  void no_member_has_a_third_turn_while_another_one_waits() {
    // The first one may take the lock before the other is in the queue.
    assertThat(worst(ContendedLocks.namedLock(), 2, Run::maxTurnsOfAnother)).isBetween(1L, 2L);
    assertThat(worst(ContendedLocks.namedLock(), 4, Run::maxTurnsOfAnother)).isBetween(1L, 2L);
    assertThat(worst(ContendedLocks.semaphore(1), 3, Run::maxTurnsOfAnother)).isBetween(1L, 2L);
  }

  @Test
  void the_lock_of_a_member_that_died_is_taken_lease_and_margin_later() {
    LeaseTerms terms = LeaseTerms.DEFAULT;
    assertThat(worst(ContendedLocks.namedLock(), 4, Run::afterADeath))
        .isLessThanOrEqualTo(terms.takeoverMillis() + SOON_MILLIS);
    assertThat(worst(ContendedLocks.semaphore(1), 4, Run::afterADeath))
        .isLessThanOrEqualTo(terms.takeoverMillis() + 1000 + SOON_MILLIS);
  }

  /** Lets members compete for a lock, and requires what the tests of this class require. */
  static void requireFairness(long seed) {
    Run run = new Run(seed, ContendedLocks.namedLock(), 3);
    Resource.require(
        run.maxTurnsOfAnother() <= 2, "a member has had a third turn while another one waits");
    Resource.require(
        run.longest > 0 && run.longest <= SOON_MILLIS, "the lock was free for too long");
  }

  private static long worst(ContendedLocks contended, int members, ToLongFunction<Run> measure) {
    return LongStream.rangeClosed(1, SEEDS)
        .map(seed -> measure.applyAsLong(new Run(seed, contended, members)))
        .max()
        .orElseThrow();
  }

  /** One run. */
  private static final class Run {
    private final World world;
    private final List<User> users = new ArrayList<>();
    private final List<User> holders = new ArrayList<>();
    private final SimulatedDocuments documents;
    private final Faults faults = new Faults();
    private final int locks;
    private long freeSince;
    private long longest;
    private long passed;

    Run(long seed, ContendedLocks contended, int members) {
      world = new World(seed);
      documents = new SimulatedDocuments(world);
      faults.end();
      locks = contended.keys().size();
      for (int i = 0; i < members; i++) {
        users.add(new User(contended, i));
      }
    }

    /** The longest time for which a lock was free while members waited for it. */
    long longestPause() {
      users.forEach(User::start);
      world.runUntil(10_000);
      longest = 0;
      world.runUntil(30_000);
      return longest;
    }

    /** The maximum number of turns of another member while one waits. */
    long maxTurnsOfAnother() {
      users.forEach(User::start);
      world.runUntil(10_000);
      passed = 0;
      longest = 0;
      world.runUntil(30_000);
      return passed;
    }

    /** How long after the death of a holder its lock is taken. */
    long afterADeath() {
      users.forEach(User::start);
      world.runUntil(10_000 + world.between(0, 5000));
      while (holders.isEmpty()) {
        world.runUntil(world.now() + 1);
      }
      User holder = holders.getFirst();
      holder.keeps = true;
      world.runUntil(world.now() + 5_000 + world.between(0, 5_000));
      holder.host.crash();
      holders.clear();
      long died = world.now();
      while (holders.isEmpty()) {
        world.runUntil(world.now() + 1);
      }
      return world.now() - died;
    }

    private void taken(User user) {
      longest = Math.max(longest, world.now() - freeSince);
      holders.add(user);
      for (User other : users) {
        if (other != user && !holders.contains(other)) {
          passed = Math.max(passed, other.passedBy.merge(user, 1, Integer::sum));
        }
      }
      user.passedBy.clear();
      if (holders.size() == locks) {
        freeSince = Long.MAX_VALUE;
      }
    }

    private void released(User user) {
      holders.remove(user);
      freeSince = world.now();
    }

    private final class User {
      private final Host host = new Host(world);
      private final SimulatedClock clock = new SimulatedClock(world, 0);
      private final Acquirer acquirer;
      private @Nullable Lease last;
      private final Map<User, Integer> passedBy = new HashMap<>();
      private boolean keeps;

      User(ContendedLocks contended, int number) {
        SimulatedConnection connection = new SimulatedConnection(world, documents, host, faults);
        Peer peer = new Peer("token-" + number, 1);
        acquirer =
            contended
                .acquirer()
                .apply(
                    new MemberContext(peer, connection, LeaseTerms.DEFAULT, clock, world.random()));
      }

      void start() {
        host.at(world.now() + world.between(0, 500), this::step);
      }

      private void step() {
        long due = acquirer.step();
        Optional<Lease> lease = acquirer.lease();
        if (lease.isPresent() && last != lease.get()) {
          last = lease.get();
          taken(this);
          host.at(world.now() + world.between(50, 150), this::giveBack);
        } else {
          host.at(Math.max(clock.trueMillis(due), world.now() + 1), this::step);
        }
      }

      private void giveBack() {
        if (keeps) {
          long due = acquirer.step();
          host.at(Math.max(clock.trueMillis(due), world.now() + 1), this::giveBack);
          return;
        }
        acquirer.release();
        released(this);
        step();
      }
    }
  }
}
