package io.millrace.cluster.shared;

import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.lock.Acquirer;
import io.millrace.cluster.lock.Locks;
import io.millrace.cluster.lock.Sightings;
import io.millrace.cluster.membership.MemberContext;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Acquires any one permit of a semaphore. One listing shows all permits, and there is none before
 * the first permit can be free. If several are free it begins with a random one, so that members
 * seldom try for the same.
 */
public final class PermitAcquirer extends Acquirer {
  /** The longest pause after another member was faster, as a fraction of the lease. */
  private static final int PAUSES = 40;

  private final MemberContext context;
  private final Locks locks;
  private final Sightings sightings;
  private final Permits permits;
  private boolean sawFree;
  private boolean agreed;
  private Set<String> left;

  /**
   * Holds no permit yet.
   *
   * @param left keys of permits that were given back just now, which a listing may not show yet
   */
  public PermitAcquirer(
      MemberContext context, Locks locks, Sightings sightings, Permits permits, Set<String> left) {
    super(permits.toString(), locks);
    this.context = context;
    this.locks = locks;
    this.sightings = sightings;
    this.permits = permits;
    this.left = left;
  }

  /**
   * Takes any permit that is free.
   *
   * @throws IllegalArgumentException if the semaphore has another number of permits
   */
  @Override
  protected Optional<Locks.Held> attempt() {
    if (!agreed) {
      permits.agree(context.documents());
      agreed = true;
    }
    Map<String, VersionedDocument> listed = new HashMap<>();
    context.documents().list(permits.prefix()).forEach(each -> listed.put(each.key(), each));
    for (String key : left) {
      context.documents().get(key).ifPresent(document -> listed.put(key, document));
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
    Collections.rotate(free, free.isEmpty() ? 0 : context.random().nextInt(free.size()));
    for (String key : free) {
      VersionedDocument document = listed.get(key);
      Optional<Locks.Held> held = document == null ? locks.create(key) : locks.take(document);
      if (held.isPresent()) {
        return held;
      }
    }
    return Optional.empty();
  }

  @Override
  protected long nextLook() {
    if (sawFree) {
      return context.now() + 1 + context.pauseMillis(PAUSES);
    }
    return permits.keys().stream()
        .mapToLong(key -> sightings.nextLook(key).orElse(context.now()))
        .min()
        .orElse(context.now());
  }
}
