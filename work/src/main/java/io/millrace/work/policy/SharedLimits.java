package io.millrace.work.policy;

import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Owner;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.Throttling;
import io.millrace.store.Throttling.Limit;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.environment.DurationText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The limits that queues and job types share, by name. They name them in their setting {@code
 * limits}; a name without a limit limits nothing. Thread-safe.
 */
public final class SharedLimits {
  private static final long LEAST_PAUSE_MILLIS = 20;
  private static final long LONGEST_PAUSE_MILLIS = 500;
  private static final String NAME = "[A-Za-z0-9._-]{1,64}";

  private final TaskStore store;
  private final Owner client;

  /** The limits of a store, changed on behalf of {@code client}. */
  public SharedLimits(TaskStore store, Owner client) {
    this.store = store;
    this.client = client;
  }

  /**
   * A shared limit and its use.
   *
   * @param name its name
   * @param limit the limit
   * @param used how many tasks are claimed that count against its {@code running}
   * @param groups the groups of tasks to which it applies
   * @param prefixes the prefixes of groups to which it applies
   */
  public record Usage(
      String name, Limit limit, long used, List<String> groups, List<String> prefixes) {}

  /**
   * Checks a name: 1 to 64 characters out of {@code A-Z a-z 0-9 . _ -}.
   *
   * @throws PolicyException if it is invalid
   */
  public static void check(String field, String name) {
    if (!name.matches(NAME)) {
      throw new PolicyException(
          field,
          field
              + ": the name of a limit has 1 to 64 characters out of A-Z a-z 0-9 . _ -, not \""
              + name
              + '"');
    }
  }

  /**
   * Reads a limit.
   *
   * @param field the name of what is read, for the error
   * @param running how many may run at a time; 0 for any number
   * @param starts how many may start in a time, such as {@code 100/1m}; empty for any number
   * @throws PolicyException if it is invalid
   */
  public static Limit limit(String field, int running, String starts) {
    if (starts.isEmpty()) {
      return new Limit(running, 0, 0);
    }
    String[] parts = starts.split("/", -1);
    if (parts.length != 2 || !parts[0].matches("[1-9][0-9]{0,6}")) {
      throw new PolicyException(
          field, field + " must be a number of starts and a time, such as 100/1m");
    }
    long periodMillis = TimeText.duration(field, parts[1]).toMillis();
    try {
      return new Limit(running, Integer.parseInt(parts[0]), periodMillis);
    } catch (IllegalArgumentException e) {
      throw new PolicyException(field, field + ": " + e.getMessage());
    }
  }

  /** How many may start in a time, as {@link #limit} reads it; empty for any number. */
  public static String starts(Limit limit) {
    return limit.starts() == 0
        ? ""
        : limit.starts() + "/" + DurationText.show(Duration.ofMillis(limit.periodMillis()));
  }

  /**
   * How long to wait before work is asked for again that these limits keep waiting: nothing tells
   * when a limit of starts has room again. For a shared limit a claim waits in the store meanwhile.
   */
  public static Duration pause(Throttling limits) {
    return Duration.ofMillis(
        Math.min(intervalMillis(limits.group()), intervalMillis(limits.key())));
  }

  private static long intervalMillis(Limit limit) {
    return limit.starts() == 0
        ? LONGEST_PAUSE_MILLIS
        : Math.clamp(
            limit.periodMillis() / limit.starts(), LEAST_PAUSE_MILLIS, LONGEST_PAUSE_MILLIS);
  }

  /** All limits in order of their names. */
  public List<Usage> all() {
    List<Document> limited = new ArrayList<>(documents(Throttling.GROUPS));
    limited.addAll(documents(Throttling.PREFIXES));
    Map<DocumentKey, Long> claimed = new HashMap<>();
    for (GroupSummary group : store.groups().value()) {
      limitsOf(group.name(), limited)
          .ifPresent(limits -> claimed.merge(limits.key(), group.claimed(), Long::sum));
    }
    return documents(Throttling.SHARED).stream()
        .map(document -> usage(document, limited, claimed))
        .toList();
  }

  /** The document with the limits of a group: its own, or that of the longest prefix. */
  private static Optional<Document> limitsOf(String group, List<Document> limited) {
    return limited.stream()
        .filter(each ->
            each.key().equals(Throttling.ofGroup(group))
                || (Throttling.isOfPrefix(each.key()) && group.startsWith(each.key().key())))
        .max(
            Comparator.<Document, Boolean>comparing(each -> Throttling.isOfGroup(each.key()))
                .thenComparingInt(each -> each.key().key().length()));
  }

  private List<Document> documents(String collection) {
    return store.documents(DocumentQuery.prefix(collection, "")).value();
  }

  private static Usage usage(
      Document shared, List<Document> limited, Map<DocumentKey, Long> claimed) {
    String name = shared.key().key();
    List<String> groups = new ArrayList<>();
    List<String> prefixes = new ArrayList<>();
    long used = 0;
    for (Document each : limited) {
      if (Throttling.read(each.key(), each.body()).shared().contains(name)) {
        (Throttling.isOfPrefix(each.key()) ? prefixes : groups).add(each.key().key());
        used += claimed.getOrDefault(each.key(), 0L);
      }
    }
    Limit limit = Throttling.read(shared.key(), shared.body()).group();
    return new Usage(name, limit, used, groups, prefixes);
  }

  /** The limit of this name. */
  public Optional<Usage> find(String name) {
    return all().stream().filter(each -> each.name().equals(name)).findFirst();
  }

  /**
   * Sets a limit. It applies from then on; what runs already goes on.
   *
   * @throws PolicyException if the name is invalid
   * @throws io.millrace.store.RefusedException if the store is full
   */
  public void put(String name, Limit limit) {
    check("name", name);
    store
        .commit(
            Transaction.by(client)
                .put(Throttling.shared(name), DocumentVersion.ANY, Throttling.ofAll(limit).body())
                .build())
        .done();
  }

  /** Removes a limit, after which it limits nothing; returns whether there was one. */
  public boolean delete(String name) {
    Transaction transaction =
        Transaction.by(client).delete(Throttling.shared(name), DocumentVersion.ANY).build();
    return store.commit(transaction) instanceof Outcome.Done;
  }
}
