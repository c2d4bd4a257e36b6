package io.millrace.store;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The limits under which tasks of a group are claimed. They are documents of the store, and each
 * claim observes those that are in force at its moment: a task that may not start yet stays
 * waiting, and others are taken instead.
 *
 * <p>A group's limits are the document {@link #ofGroup} of its name. The document {@link #ofPrefix}
 * sets limits for all groups whose names begin with a prefix, together as if they were one group;
 * it does not apply to groups that have limits of their own or for which there is a longer prefix.
 * Limits that several groups or prefixes share are the document {@link #shared} of any name, and
 * they name it. Without a document, nothing is limited. Limits also apply to tasks that a
 * {@linkplain Transaction.Taking transaction takes}, which is refused if one of them is reached.
 * Renewing a claim is no start.
 *
 * <p>The body is text, one setting per line; all are optional:
 *
 * <pre>
 * running 10          at most 10 tasks of the group are claimed at a time
 * starts 100 60000    at most 100 starts at once, and evenly 100 every 60,000 ms after that
 * key-running 1       the same limits for each key of the group, for tasks that have a key
 * key-starts 5 1000
 * ageing 60000        each level of priority is worth 60,000 ms of waiting
 * weight 3 KEY        the key takes 3 tasks when its turn comes, instead of 1
 * shared NAME         the group's tasks count against this shared limit too
 * </pre>
 *
 * <p>A shared limit has only {@code running} and {@code starts}.
 *
 * @param group the limit of the group or of all groups with the prefix, or the shared limit
 * @param key the limit of each key
 * @param ageingMillis how long a task must wait to overtake one of the next higher priority, 0 or
 *     more; default {@link #AGEING_MILLIS}
 * @param weights how many tasks a key takes in one turn, 1 to {@value #MAX_WEIGHT}, at most {@value
 *     #MAX_WEIGHTS} keys; 1 for all others
 * @param shared the shared limits that apply to the group, at most {@value #MAX_SHARED}
 */
public record Throttling(
    Limit group, Limit key, long ageingMillis, Map<String, Integer> weights, List<String> shared) {
  /** The default of {@link #ageingMillis}: a minute. */
  public static final long AGEING_MILLIS = 60_000;

  /** No limits. */
  public static final Throttling NONE =
      new Throttling(Limit.NONE, Limit.NONE, AGEING_MILLIS, Map.of(), List.of());

  private static final int MAX_WEIGHT = 1_000;

  /** The most keys with a weight. */
  public static final int MAX_WEIGHTS = 1_000;

  /** The most shared limits of a group. */
  public static final int MAX_SHARED = 16;

  /** The collection of the limits of groups. */
  public static final String GROUPS = "throttling/groups";

  /** The collection of the limits of all groups with a prefix. */
  public static final String PREFIXES = "throttling/prefixes";

  /** The collection of shared limits. */
  public static final String SHARED = "throttling/shared";

  /** Throws {@link IllegalArgumentException} for values out of range. */
  public Throttling {
    weights = Collections.unmodifiableMap(new TreeMap<>(weights));
    shared = List.copyOf(shared);
    Limit.check(
        ageingMillis >= 0 && ageingMillis <= Limit.MAX_PERIOD_MILLIS, "ageing", ageingMillis);
    Limit.check(weights.size() <= MAX_WEIGHTS, "number of weights", weights.size());
    Limit.check(shared.size() <= MAX_SHARED, "number of shared limits", shared.size());
    weights.forEach((name, weight) -> {
      Limit.check(weight >= 1 && weight <= MAX_WEIGHT, "weight of " + name, weight);
      checkLine("key", name);
    });
    shared.forEach(name -> checkLine("shared limit", name));
    if (shared.stream().distinct().count() < shared.size()) {
      throw new IllegalArgumentException("a shared limit is named twice: " + shared);
    }
  }

  private static void checkLine(String what, String name) {
    if (name.isEmpty() || name.indexOf('\n') >= 0) {
      throw new IllegalArgumentException("a " + what + " is empty or has more than one line");
    }
  }

  /** The document of the limits of a group. */
  public static DocumentKey ofGroup(String group) {
    return new DocumentKey(GROUPS, group);
  }

  /** The document of the limits of all groups whose names begin with this prefix. */
  public static DocumentKey ofPrefix(String prefix) {
    return new DocumentKey(PREFIXES, prefix);
  }

  /** The document of a shared limit. */
  public static DocumentKey shared(String name) {
    return new DocumentKey(SHARED, name);
  }

  /** Whether a document sets limits. */
  public static boolean isSetBy(DocumentKey key) {
    return isOfGroup(key) || isOfPrefix(key) || isShared(key);
  }

  /** Whether a document has the limits of a group. */
  public static boolean isOfGroup(DocumentKey key) {
    return key.collection().equals(GROUPS);
  }

  /** Whether a document has the limits of all groups with a prefix. */
  public static boolean isOfPrefix(DocumentKey key) {
    return key.collection().equals(PREFIXES);
  }

  /** Whether a document has a shared limit. */
  public static boolean isShared(DocumentKey key) {
    return key.collection().equals(SHARED);
  }

  /** How many tasks a key takes in one turn. */
  public int weight(String key) {
    return weights.getOrDefault(key, 1);
  }

  /** The text of these limits, as the body of a document. */
  public Bytes body() {
    StringBuilder text = new StringBuilder(64);
    group.write(text, "");
    key.write(text, "key-");
    if (ageingMillis != AGEING_MILLIS) {
      text.append("ageing ").append(ageingMillis).append('\n');
    }
    weights.forEach((name, weight) ->
        text.append("weight ").append(weight).append(' ').append(name).append('\n'));
    shared.forEach(name -> text.append("shared ").append(name).append('\n'));
    return Bytes.of(text.toString());
  }

  /**
   * Reads the body of a document.
   *
   * @throws IllegalArgumentException if it does not have the form above; the message names the line
   */
  public static Throttling read(DocumentKey document, Bytes body) {
    Limit group = Limit.NONE;
    Limit key = Limit.NONE;
    long ageing = AGEING_MILLIS;
    Map<String, Integer> weights = new TreeMap<>();
    List<String> shared = new ArrayList<>();
    for (String line : body.utf8().lines().filter(each -> !each.isBlank()).toList()) {
      String[] words = line.split(" ", 2);
      String rest = words.length < 2 ? "" : words[1];
      switch (words[0]) {
        case "running" -> group = group.withRunning(number(line, rest));
        case "starts" -> group = group.withStarts(line, rest);
        case "key-running" -> key = key.withRunning(number(line, rest));
        case "key-starts" -> key = key.withStarts(line, rest);
        case "ageing" -> ageing = number(line, rest);
        case "weight" -> {
          String[] parts = rest.split(" ", 2);
          weights.put(parts.length < 2 ? "" : parts[1], number(line, parts[0]));
        }
        case "shared" -> shared.add(rest);
        default -> throw new IllegalArgumentException("unknown setting: " + line);
      }
    }
    Throttling read = new Throttling(group, key, ageing, weights, shared);
    if (isShared(document) && !read.equals(ofAll(group))) {
      throw new IllegalArgumentException("a shared limit has only running and starts");
    }
    return read;
  }

  /** A limit of all tasks together, without limits of keys. */
  public static Throttling ofAll(Limit limit) {
    return new Throttling(limit, Limit.NONE, AGEING_MILLIS, Map.of(), List.of());
  }

  private static int number(String line, String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException _) {
      throw new IllegalArgumentException("not a number from 0 to 2^31 - 1: " + line);
    }
  }

  /**
   * How many tasks may run at a time, and how many may start in a time.
   *
   * @param running how many may be claimed at a time; 0 for any number
   * @param starts how many may start at once; after that, they become possible again evenly over
   *     the period, so that {@code starts} more are possible in each period. 0 for any number, at
   *     most 1,000,000
   * @param periodMillis the period in milliseconds of store time, from 1 to {@value
   *     #MAX_PERIOD_MILLIS}, which is about 24 days, and at least one for each thousand starts; 0
   *     if {@code starts} is 0
   */
  public record Limit(int running, int starts, long periodMillis) {
    /** No limit. */
    public static final Limit NONE = new Limit(0, 0, 0);

    private static final int MAX_STARTS = 1_000_000;

    /** The longest period, and the most that a level of priority is worth. */
    public static final long MAX_PERIOD_MILLIS = Integer.MAX_VALUE;

    /** Throws {@link IllegalArgumentException} for values out of range. */
    public Limit {
      check(running >= 0, "running", running);
      check(starts >= 0 && starts <= MAX_STARTS, "starts", starts);
      check(
          starts == 0
              ? periodMillis == 0
              : periodMillis > 0
                  && periodMillis <= MAX_PERIOD_MILLIS
                  && starts <= 1_000 * periodMillis,
          "period of " + starts + " starts",
          periodMillis);
    }

    /** Here, since this class must not need the other one, whose constants need this one. */
    private static void check(boolean valid, String what, long value) {
      if (!valid) {
        throw new IllegalArgumentException(what + " is out of range: " + value);
      }
    }

    private Limit withRunning(int count) {
      return new Limit(count, starts, periodMillis);
    }

    private Limit withStarts(String line, String text) {
      String[] parts = text.split(" ", 2);
      String period = parts.length < 2 ? "" : parts[1];
      return new Limit(running, number(line, parts[0]), number(line, period));
    }

    private void write(StringBuilder text, String prefix) {
      if (running > 0) {
        text.append(prefix).append("running ").append(running).append('\n');
      }
      if (starts > 0) {
        text.append(prefix).append("starts ").append(starts).append(' ').append(periodMillis);
        text.append('\n');
      }
    }

    /** How long it takes, in microseconds, until one more start is possible. */
    private long intervalMicros() {
      return periodMillis * 1_000 / starts;
    }

    /**
     * How many tasks may start now.
     *
     * @param fullAtMicros when, in microseconds of store time, all starts are possible again, as
     *     {@link #afterStart} has said; 0 if nothing has started yet
     * @param nowMillis the store time
     */
    public int possible(long fullAtMicros, long nowMillis) {
      if (starts == 0) {
        return Integer.MAX_VALUE;
      }
      long missing = Math.max(0, fullAtMicros - nowMillis * 1_000);
      return (int) Math.max(0, starts - Math.ceilDiv(missing, intervalMicros()));
    }

    /** When all starts are possible again, in microseconds, if a task starts now. */
    public long afterStart(long fullAtMicros, long nowMillis) {
      return starts == 0
          ? fullAtMicros
          : Math.max(fullAtMicros, nowMillis * 1_000) + intervalMicros();
    }

    /** The store time in milliseconds at which at least one task may start. */
    public long possibleAtMillis(long fullAtMicros) {
      return starts == 0
          ? 0
          : Math.max(0, Math.ceilDiv(fullAtMicros - (starts - 1) * intervalMicros(), 1_000L));
    }
  }
}
