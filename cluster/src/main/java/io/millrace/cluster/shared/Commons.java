package io.millrace.cluster.shared;

import io.millrace.cluster.lock.Locks;
import io.millrace.cluster.lock.Sightings;
import io.millrace.cluster.member.Member;
import io.millrace.cluster.membership.Station;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.random.RandomGenerator;

/**
 * What the shared things of one member have in common, whatever copies of them users' code has.
 * Safe for use by any number of threads.
 */
final class Commons {
  // Copies come out of lambdas and know nothing but their member, which may be gone one day.
  private static final Map<Member, Commons> ALL = new WeakHashMap<>();

  private final Station station;
  private final Locks locks;
  private final Map<String, Anteroom> rooms = new ConcurrentHashMap<>();
  private final Map<String, Reporting> reporters = new ConcurrentHashMap<>();

  private Commons(Station station) {
    this.station = station;
    this.locks =
        new Locks(station.documents(), station.peer().token(), station.terms(), station.clock());
  }

  static Commons of(Member member) {
    synchronized (ALL) {
      return ALL.computeIfAbsent(member, one -> new Commons(one.station()));
    }
  }

  /** The member's station, with randomness that one thread may ask. */
  Station station() {
    return new Station(
        station.peer(),
        station.documents(),
        station.terms(),
        station.clock(),
        RandomGenerator.getDefault());
  }

  /** The member's writes to locks of users. */
  Locks locks() {
    return locks;
  }

  /** Where threads wait that want what has this key. */
  Anteroom room(String key) {
    return rooms.computeIfAbsent(
        key, _ -> new Anteroom(new Sightings(station.terms(), station.clock())));
  }

  /** The member's report of a name. */
  Reporting reporting(String name) {
    return reporters.computeIfAbsent(name, one -> new Reporting(station, one));
  }
}
