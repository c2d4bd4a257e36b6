package io.millrace.work.policy;

import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason.Kind;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore;
import io.millrace.store.Throttling;
import io.millrace.store.Throttling.Limit;
import io.millrace.store.Transaction;
import io.millrace.work.Explanation.Reason;
import io.millrace.work.Explanation.Related;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Finds out which limits keep work of a queue or a job type, or a node of a graph, waiting.
 *
 * @param store holds the limits
 * @param client asks the store
 * @param kind what is limited, as in {@link Related}: {@code task}, {@code job} or {@code node}
 * @param place the queue or type, for people, such as {@code queue mail}; empty for nodes
 */
public record LimitReasons(TaskStore store, Owner client, String kind, String place) {
  /** No document has this key, so a transaction that depends on its version is refused. */
  private static final DocumentKey NO_DOCUMENT = new DocumentKey("limits.none", "none");

  /**
   * Work that runs and so uses up limits.
   *
   * @param ids those that the caller may see
   * @param total how many there are, with those that the caller may not see
   */
  public record Running(List<String> ids, long total) {
    /** Nothing runs. */
    public static final Running NONE = new Running(List.of(), 0);
  }

  /** What runs under a shared limit. */
  @FunctionalInterface
  public interface Sharing {
    /** What runs under it, by its kind as in {@link Related}; kinds without any may be left out. */
    Map<String, Running> of(SharedLimits.Usage usage);
  }

  /**
   * What runs, found only if a limit asks for it.
   *
   * @param all all of the queue or type
   * @param sameKey those with the key of the work
   * @param sharing those to which a shared limit applies too
   */
  public record Holders(Supplier<Running> all, Supplier<Running> sameKey, Sharing sharing) {
    /** Of work that has no limits but shared ones. */
    public static Holders of(Sharing sharing) {
      return new Holders(() -> Running.NONE, () -> Running.NONE, sharing);
    }
  }

  /**
   * The limits that are reached for some work that could start otherwise.
   *
   * @param limits those of its queue or type
   * @param key its key; empty for none
   * @param task its task in the store; null if it has none yet
   */
  public List<Reason> of(Throttling limits, String key, @Nullable TaskRef task, Holders holders) {
    List<Reason> reasons = new ArrayList<>();
    reached(place, limits.group().running(), holders.all(), reasons);
    List<String> starts = new ArrayList<>();
    starts(place, limits.group(), starts);
    if (!key.isEmpty()) {
      reached(
          "key %s in %s".formatted(key, place), limits.key().running(), holders.sameKey(), reasons);
      starts("key " + key, limits.key(), starts);
    }
    SharedLimits shared = new SharedLimits(store, client);
    for (String name : limits.shared()) {
      shared
          .find(name)
          .ifPresent(usage -> {
            shared(usage, holders, reasons);
            starts("shared limit " + name, usage.limit(), starts);
          });
    }
    if (reasons.isEmpty() && !starts.isEmpty() && task != null && isLimited(task)) {
      reasons.add(
          Reason.of(
              "limit",
              "too many %ss have started lately: %s".formatted(kind, String.join(", ", starts))));
    }
    return reasons;
  }

  private void reached(String what, int most, Supplier<Running> holders, List<Reason> reasons) {
    if (most <= 0) {
      return;
    }
    Running running = holders.get();
    if (running.total() >= most) {
      reasons.add(
          reason(
              "the limit of %s is reached (%d of %d running)"
                  .formatted(what, running.total(), most),
              running.ids(),
              running.total()));
    }
  }

  private void shared(SharedLimits.Usage usage, Holders holders, List<Reason> reasons) {
    int most = usage.limit().running();
    if (most <= 0 || usage.used() < most) {
      return;
    }
    String message =
        "the shared limit %s is reached (%d of %d running)"
            .formatted(usage.name(), usage.used(), most);
    Map<String, Running> sharing = new TreeMap<>(holders.sharing().of(usage));
    sharing.values().removeIf(running -> running.total() == 0);
    long known = sharing.values().stream().mapToLong(Running::total).sum();
    if (sharing.size() == 1 && known == usage.used()) {
      sharing.forEach((of, by) ->
          reasons.add(new Reason("limit", message, Related.of(of, by.ids(), by.total()))));
      return;
    }
    if (sharing.isEmpty()) {
      reasons.add(Reason.of("limit", message));
    }
    sharing.forEach((of, by) ->
        reasons.add(
            new Reason(
                "limit",
                "%s: %d %s%s".formatted(message, by.total(), of, by.total() == 1 ? "" : "s"),
                Related.of(of, by.ids(), by.total()))));
  }

  private Reason reason(String message, List<String> ids, long total) {
    return new Reason("limit", message, Related.of(kind, ids, total));
  }

  /** Adds a limit on starts, if it is one, to those that may be reached. */
  private static void starts(String what, Limit limit, List<String> starts) {
    if (limit.starts() > 0) {
      starts.add("at most " + SharedLimits.starts(limit) + " for " + what);
    }
  }

  /**
   * Whether a limit keeps the task waiting. Only the store knows how many have started lately, so
   * it is asked to take the task, in a transaction that it refuses in any case.
   */
  private boolean isLimited(TaskRef task) {
    Transaction attempt =
        Transaction.by(client)
            .take(task, Duration.ofMillis(1))
            .depend(NO_DOCUMENT, Limits.LARGEST_NUMBER)
            .build();
    return store.commit(attempt) instanceof Outcome.Refused refused
        && refused.reasons().stream().anyMatch(reason -> reason.kind() == Kind.LIMIT_REACHED);
  }
}
