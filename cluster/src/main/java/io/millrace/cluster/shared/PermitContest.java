package io.millrace.cluster.shared;

import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.lock.Held;
import io.millrace.cluster.lock.KeepingContest;
import io.millrace.cluster.lock.Locks;
import io.millrace.cluster.lock.Sightings;
import io.millrace.cluster.membership.Station;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The wish to hold any one permit of a semaphore. One listing shows all of them, and none is made
 * before the first of them can be free. Of several that are free it begins with any, so that
 * members seldom want the same.
 */
public final class PermitContest extends KeepingContest {
  /** A pause after somebody else was faster, as a part of the lease at most. */
  private static final int PAUSES = 40;

  private final Station station;
  private final Locks locks;
  private final Sightings sightings;
  private final Permits permits;
  private boolean sawFree;
  private boolean agreed;
  private Set<String> left;

  /**
   * A permit that is not held yet.
   *
   * @param left keys of permits that were given back just now, which a listing may not show yet
   */
  public PermitContest(
      Station station, Locks locks, Sightings sightings, Permits permits, Set<String> left) {
    super(permits.toString(), locks, station.clock());
    this.station = station;
    this.locks = locks;
    this.sightings = sightings;
    this.permits = permits;
    this.left = left;
  }

  /**
   * Takes any permit that is free.
   *
   * @throws IllegalArgumentException where the semaphore has another number of permits
   */
  @Override
  protected Optional<Held> attempt() {
    if (!agreed) {
      permits.agree(station.documents());
      agreed = true;
    }
    Map<String, VersionedDocument> listed =
        station.documents().list(permits.prefix()).stream()
            .collect(
                Collectors.toMap(
                    VersionedDocument::key, Function.identity(), (one, _) -> one, HashMap::new));
    for (String key : left) {
      station.documents().get(key).ifPresent(document -> listed.put(key, document));
    }
    left = Set.of();
    Set<String> known = new HashSet<>(permits.keys());
    known.retainAll(listed.keySet());
    sightings.retain(permits.prefix(), known);
    listed.values().stream()
        .filter(document -> known.contains(document.key()))
        .forEach(sightings::see);
    List<String> free = new ArrayList<>(permits.keys());
    free.removeIf(key -> known.contains(key) && !sightings.isFree(key));
    sawFree = !free.isEmpty();
    Collections.rotate(free, free.isEmpty() ? 0 : station.random().nextInt(free.size()));
    for (String key : free) {
      VersionedDocument document = listed.get(key);
      Optional<Held> held = document == null ? locks.create(key) : locks.take(document);
      if (held.isPresent()) {
        return held;
      }
    }
    return Optional.empty();
  }

  @Override
  protected long nextLook() {
    if (sawFree) {
      return station.now() + 1 + station.pauseMillis(PAUSES);
    }
    return permits.keys().stream()
        .mapToLong(key -> sightings.nextLook(key).orElse(station.now()))
        .min()
        .orElse(station.now());
  }
}
