package io.millrace.cluster.shared;

import io.millrace.cluster.lock.Contest;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.lock.Tenure;
import io.millrace.cluster.time.MemberClock;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One thread's way into a lock and out of it. */
final class Gate {
  /** No limit: longer than any clock can tell. */
  static final Duration FOREVER = Duration.ofDays(36_500);

  private final String what;
  private final Anteroom room;
  private final MemberClock clock;
  private final Supplier<? extends Contest> contests;

  /**
   * A way that nobody has gone yet.
   *
   * @param what what the lock is called, for people
   * @param contests makes attempts, each of which looks at the lock at once
   */
  Gate(String what, Anteroom room, MemberClock clock, Supplier<? extends Contest> contests) {
    this.what = what;
    this.room = room;
    this.clock = clock;
    this.contests = contests;
  }

  /**
   * Waits, runs code inside, and leaves.
   *
   * @param guards what the code is given
   * @throws TimeoutException where it could not come in within the time
   */
  <G extends Guard, T extends @Nullable Object, E extends Exception> T pass(
      Duration most, Function<Tenure, G> guards, GuardedCode<G, T, E> code)
      throws E, InterruptedException, TimeoutException {
    Entry entry = enter(most.compareTo(FOREVER) > 0 ? FOREVER : most);
    if (entry == null) {
      throw new TimeoutException(
          "%s was not to be had within %d ms".formatted(what, most.toMillis()));
    }
    Thread thread = Thread.currentThread();
    room.enter(thread);
    try {
      return new Stay(what, entry.contest(), entry.tenure(), clock)
          .run(guards.apply(entry.tenure()), code);
    } finally {
      room.leave(thread, entry.tenure().key());
    }
  }

  private record Entry(Contest contest, Tenure tenure) {}

  private @Nullable Entry enter(Duration most) throws InterruptedException {
    long end = clock.monotonicMillis() + most.toMillis();
    if (!room.queueUp(most)) {
      return null;
    }
    try {
      room.listen();
      Contest contest = contests.get();
      while (true) {
        long due = contest.step();
        Optional<Tenure> tenure = contest.tenure();
        if (tenure.isPresent()) {
          return new Entry(contest, tenure.get());
        }
        long now = clock.monotonicMillis();
        if (now >= end) {
          return null;
        }
        if (room.rest(Math.min(due, end) - now)) {
          contest = contests.get();
        }
      }
    } finally {
      room.goOn();
    }
  }
}
