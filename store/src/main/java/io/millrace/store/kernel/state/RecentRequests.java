package io.millrace.store.kernel.state;

import io.millrace.store.kernel.records.Event;
import io.millrace.store.kernel.records.RequestDigest;
import java.util.Comparator;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The executed commands of the last ten minutes that have a request id. */
public final class RecentRequests {
  /** How long a request is remembered, in milliseconds of store time. */
  public static final long KEPT_MILLIS = 600_000;

  /** A remembered event, or a probe for a search. */
  private record Entry(String principal, String id, long number, @Nullable Event event) {}

  private static final Comparator<Entry> BY_ID =
      Comparator.comparing(Entry::principal).thenComparing(Entry::id);
  private static final Comparator<Entry> BY_AGE = Comparator.comparingLong(Entry::number);

  private final OrderedTree<Entry> byId;
  private final OrderedTree<Entry> byAge;

  RecentRequests(CopyGeneration generation) {
    byId = new OrderedTree<>(BY_ID, generation);
    byAge = new OrderedTree<>(BY_AGE, generation);
  }

  /** The event with this request id; null if there is none at {@code nowMillis}. */
  public @Nullable Event find(String principal, String id, long nowMillis) {
    Entry entry = byId.find(new Entry(principal, id, 0, null));
    if (entry == null || entry.event == null || forgotten(entry.event, nowMillis)) {
      return null;
    }
    return entry.event;
  }

  private static boolean forgotten(Event event, long nowMillis) {
    return event.timeMillis() + KEPT_MILLIS <= nowMillis;
  }

  /** Adds an event; returns the one with the same id that it replaces, or null. */
  @Nullable Event remember(Event event) {
    RequestDigest digest = Objects.requireNonNull(event.request());
    Entry entry = new Entry(event.client().principal(), digest.id(), event.number(), event);
    Entry former = byId.find(entry);
    if (former != null) {
      byAge.remove(former);
    }
    byId.replace(entry);
    byAge.insert(entry);
    return former == null ? null : former.event;
  }

  /** Removes and returns the oldest event if its time is over at {@code nowMillis}; else null. */
  @Nullable Event forgetOne(long nowMillis) {
    if (byAge.isEmpty()) {
      return null;
    }
    Entry oldest = byAge.first();
    Event event = Objects.requireNonNull(oldest.event);
    if (!forgotten(event, nowMillis)) {
      return null;
    }
    byAge.remove(oldest);
    byId.remove(oldest);
    return event;
  }

  /** When the oldest event is removed; {@link Long#MAX_VALUE} if there is none. */
  long nextDueMillis() {
    return byAge.isEmpty()
        ? Long.MAX_VALUE
        : Objects.requireNonNull(byAge.first().event).timeMillis() + KEPT_MILLIS;
  }

  /** The number of remembered requests. */
  public int size() {
    return byAge.size();
  }

  /** The current remembered events, the oldest first. */
  Iterable<Event> frozen() {
    FrozenTree<Entry> entries = byAge.freeze();
    return () -> entries.stream().map(entry -> Objects.requireNonNull(entry.event)).iterator();
  }
}
