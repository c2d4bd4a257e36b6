package io.millrace.cluster.simulation;

import io.millrace.cluster.lock.Contest;
import io.millrace.cluster.lock.Lock;
import io.millrace.cluster.lock.Locks;
import io.millrace.cluster.lock.Sightings;
import io.millrace.cluster.membership.Station;
import io.millrace.cluster.shared.PermitContest;
import io.millrace.cluster.shared.Permits;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * What processes fight for.
 *
 * @param keys the locks, of which each is to be held by one at a time
 * @param contest how a process tries for one of them
 */
record Prize(List<String> keys, Function<Station, Contest> contest) {
  /** One lock. */
  static Prize lock() {
    String key = "leader";
    return new Prize(
        List.of(key),
        station ->
            new Lock(
                key, station.documents(), locks(station), sightings(station), station.clock()));
  }

  /** A semaphore. */
  static Prize semaphore(int count) {
    Permits permits = new Permits("s", count);
    return new Prize(
        IntStream.rangeClosed(1, count).mapToObj(number -> "semaphore/s/" + number).toList(),
        station ->
            new PermitContest(station, locks(station), sightings(station), permits, Set.of()));
  }

  private static Locks locks(Station station) {
    return new Locks(station.documents(), station.peer().token(), station.terms(), station.clock());
  }

  private static Sightings sightings(Station station) {
    return new Sightings(station.terms(), station.clock());
  }
}
