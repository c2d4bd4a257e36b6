package io.millrace.store.kernel.state;

import io.millrace.store.kernel.records.Event;
import io.millrace.store.kernel.records.RequestDigest;
import java.util.Comparator;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The answers given in the last ten minutes to commands with a request id. */
public final class RecentRequests {
  /** How long an answer is remembered, in milliseconds of store time. */
  public static final long KEPT_MILLIS = 600_000;

  /** A key of the table: a remembered event, or a probe that looks like one. */
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

  /** The event under this request id, if it is remembered at {@code nowMillis}. */
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

  /** Remembers an answer; gives the one under the same id whose place it takes, if any. */
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

  /** Drops the oldest answer if its time is over at {@code nowMillis}; returns what it dropped. */
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

  /** When the oldest answer is to be dropped; {@link Long#MAX_VALUE} when there is none. */
  long nextDueMillis() {
    return byAge.isEmpty()
        ? Long.MAX_VALUE
        : Objects.requireNonNull(byAge.first().event).timeMillis() + KEPT_MILLIS;
  }

  /** How many requests are remembered. */
  public int size() {
    return byAge.size();
  }

  /** The remembered events by age, as they are now. */
  Iterable<Event> frozen() {
    FrozenTree<Entry> entries = byAge.freeze();
    return () -> entries.stream().map(entry -> Objects.requireNonNull(entry.event)).iterator();
  }
}
