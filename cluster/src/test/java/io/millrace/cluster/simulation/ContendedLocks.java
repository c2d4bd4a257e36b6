package io.millrace.cluster.simulation;

import io.millrace.cluster.lock.Acquirer;
import io.millrace.cluster.membership.MemberContext;
import io.millrace.cluster.shared.FairAcquirer;
import io.millrace.cluster.shared.Permits;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * The locks that processes compete for.
 *
 * @param keys the keys of the locks, each of which one process may hold at a time
 * @param acquirer creates the acquirer of a process
 */
record ContendedLocks(List<String> keys, Function<MemberContext, Acquirer> acquirer) {
  /** One lock. */
  static ContendedLocks lock() {
    String key = "leader";
    return new ContendedLocks(
        List.of(key), context -> Acquirer.of(key, context.newLocks(), context.newObservedLocks()));
  }

  /** A semaphore. */
  static ContendedLocks semaphore(int count) {
    Permits permits = new Permits("s", count);
    return new ContendedLocks(
        IntStream.rangeClosed(1, count).mapToObj(number -> "semaphore/s/" + number).toList(),
        context ->
            FairAcquirer.of(permits, context, context.newLocks(), context.newObservedLocks()));
  }

  /** A lock with a queue. */
  static ContendedLocks namedLock() {
    String key = "lock/l";
    return new ContendedLocks(
        List.of(key),
        context -> FairAcquirer.of(key, context, context.newLocks(), context.newObservedLocks()));
  }
}
