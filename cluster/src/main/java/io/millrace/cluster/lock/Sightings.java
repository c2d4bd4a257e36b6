package io.millrace.cluster.lock;

import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.time.MemberClock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What a member has seen of locks, and for how long: the only thing by which it judges that a
 * holder is gone. Safe for use by any number of threads, which then profit from what each of them
 * sees.
 */
public final class Sightings {
  private final LeaseTerms terms;
  private final MemberClock clock;
  private final Map<String, Sighting> seen = new HashMap<>();

  /** Nothing seen yet. */
  public Sightings(LeaseTerms terms, MemberClock clock) {
    this.terms = terms;
    this.clock = clock;
  }

  /**
   * Takes note of a lock that was read or listed just now.
   *
   * @return what it says
   */
  public synchronized LockDocument see(VersionedDocument document) {
    Sighting before = seen.get(document.key());
    if (before != null && before.version().equals(document.version())) {
      return before.lock();
    }
    LockDocument lock = LockForm.read(document);
    long remaining = lock.expireMillis() - clock.wallMillis();
    seen.put(
        document.key(), new Sighting(document.version(), lock, clock.monotonicMillis(), remaining));
    return lock;
  }

  /** Takes note of all locks whose keys begin with {@code prefix}, and forgets those not listed. */
  public synchronized void see(String prefix, List<VersionedDocument> listed) {
    listed.forEach(this::see);
    retain(prefix, listed.stream().map(VersionedDocument::key).collect(Collectors.toSet()));
  }

  /** Whether a lock as it was seen last may be taken: it was released, or its holder is gone. */
  public synchronized boolean isFree(String key) {
    Sighting sighting = seen.get(key);
    return sighting != null && sighting.isFree(terms, clock.monotonicMillis());
  }

  /** When to look at a lock again, by the monotonic clock; empty for one that was never seen. */
  public synchronized OptionalLong nextLook(String key) {
    Sighting sighting = seen.get(key);
    return sighting == null
        ? OptionalLong.empty()
        : OptionalLong.of(sighting.nextLook(terms, clock.monotonicMillis()));
  }

  /** Since when a lock has been seen as it is; now for one that was never seen. */
  public synchronized long sinceMillis(String key) {
    Sighting sighting = seen.get(key);
    return sighting == null ? clock.monotonicMillis() : sighting.sinceMillis();
  }

  /** Forgets all locks whose keys begin with {@code prefix} but those named. */
  public synchronized void retain(String prefix, Set<String> keys) {
    seen.keySet().removeIf(key -> key.startsWith(prefix) && !keys.contains(key));
  }

  /** Forgets a lock that is not there any more. */
  public synchronized void forget(String key) {
    seen.remove(key);
  }
}
