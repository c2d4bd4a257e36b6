package io.millrace.graph.type;

import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.NodeLimits;
import io.millrace.graph.Timing;
import io.millrace.store.Task.Lane;
import io.millrace.store.Throttling;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.Policy.Field;
import io.millrace.work.policy.PolicyException;
import io.millrace.work.policy.Retention;
import io.millrace.work.policy.RetryPolicy;
import io.millrace.work.policy.TimeText;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * How often a node is tried, and for how long: what those keys of its data say that every working
 * node has. Immutable.
 *
 * @param retries what follows from failures and snoozes
 * @param interruptions how many interrupted attempts are begun again without counting, from 0
 * @param timeout how long an attempt may take, from a millisecond to 365 days; null for ever
 */
public record RunPolicy(RetryPolicy retries, int interruptions, @Nullable Duration timeout) {
  /** The settings of retries, as queue tasks and jobs have them. */
  private static final Set<Field> OF_RETRIES =
      EnumSet.of(
          Field.ATTEMPTS,
          Field.RETRY_DELAY,
          Field.RETRY_FACTOR,
          Field.RETRY_MAX_DELAY,
          Field.RETRY_JITTER,
          Field.RETRY_EXCEPT,
          Field.SNOOZES);

  /** A first pause of a second, and no jitter: what nodes had before they had these settings. */
  private static final Policy DEFAULTS =
      new Policy(Map.of(Field.RETRY_DELAY.key(), "1s", Field.RETRY_JITTER.key(), "0"));

  /** One attempt, however long it takes. */
  public static final RunPolicy DEFAULT = new RunPolicy(DEFAULTS.retries(), 0, null);

  private static final int MAX_RETRIES = 1000;
  private static final int MAX_INTERRUPTIONS = 10_000;

  /** The number of attempts after the first one: an older form of {@code attempts}. */
  private static final String RETRIES = "retries";

  /** The first pause in seconds: an older form of {@code retry_delay}. */
  private static final String BACKOFF = "backoff";

  private static final String INTERRUPTIONS = "interruptions";
  private static final String TIMEOUT = "timeout";

  /** The earliest time of the first start. */
  static final String AT = "at";

  private static final String DELAY = "delay";
  private static final String WAIT_TIMEOUT = "wait_timeout";
  private static final String TOTAL_TIMEOUT = "total_timeout";
  private static final String LIMIT_KEY = "limit_key";
  private static final String PRIORITY_LEVEL = "priority_level";
  private static final int MAX_KEY_BYTES = 512;

  /** How long the graph of a node stays in the store after it has ended. */
  public static final String KEEP_FINISHED = "keep_finished";

  /** How many graphs that have ended stay in the store, of those with a node of the same name. */
  public static final String KEEP_COUNT = "keep_count";

  /** The keys that all nodes have, groups too, and that may change at any time. */
  public static final Set<String> OF_RETENTION = Set.of(KEEP_FINISHED, KEEP_COUNT);

  /** The keys about shared limits, which groups refuse. */
  private static final Set<String> OF_LIMITS =
      Set.of(
          Field.LIMITS.key(),
          LIMIT_KEY,
          PRIORITY_LEVEL,
          Field.KEY_RUNNING.key(),
          Field.KEY_STARTS.key());

  private static final long DAY_MILLIS = Duration.ofDays(1).toMillis();
  private static final long YEAR_MILLIS = Duration.ofDays(365).toMillis();

  /** The keys that a group reads: those of retention, and those about limits, to refuse them. */
  static Set<String> keysOfGroups() {
    Set<String> all = new LinkedHashSet<>(OF_RETENTION);
    all.addAll(OF_LIMITS);
    return Set.copyOf(all);
  }

  /**
   * Checks the data of a group.
   *
   * @throws InvalidGraphException if one of its keys is invalid, or it has limits; the message
   *     names the key
   */
  static void checkGroup(Map<String, JsonNode> data) {
    Inputs inputs = new Inputs(data);
    OF_LIMITS.stream()
        .sorted()
        .filter(inputs::has)
        .findFirst()
        .ifPresent(key -> {
          throw new InvalidGraphException(
              key + " is set, but a group does not run; give limits to the nodes in it");
        });
    var _ = timing(data);
  }

  /** The keys of the policy, of the timing and of the limits together with those of a type. */
  public static Set<String> keysWith(String... keys) {
    Set<String> all = new LinkedHashSet<>(Arrays.asList(keys));
    OF_RETRIES.forEach(field -> all.add(field.key()));
    all.addAll(Set.of(RETRIES, BACKOFF, INTERRUPTIONS, TIMEOUT));
    all.addAll(Set.of(AT, DELAY, WAIT_TIMEOUT, TOTAL_TIMEOUT));
    all.addAll(OF_RETENTION);
    all.addAll(OF_LIMITS);
    return Set.copyOf(all);
  }

  /**
   * Reads from a node's data when it may start, and how long it may wait, take and stay.
   *
   * @throws InvalidGraphException if one of the keys is invalid; the message names it
   */
  public static Timing timing(Map<String, JsonNode> data) {
    Inputs inputs = new Inputs(data);
    long longest = TimeText.LONGEST.toMillis();
    return new Timing(
        inputs.moment(AT).map(Instant::toEpochMilli).orElse(0L),
        inputs.duration(DELAY, 0, longest).map(Duration::toMillis).orElse(0L),
        inputs.duration(WAIT_TIMEOUT, 1, longest).map(Duration::toMillis).orElse(0L),
        inputs.duration(TOTAL_TIMEOUT, 1, longest).map(Duration::toMillis).orElse(0L),
        retention(inputs));
  }

  private static Retention retention(Inputs inputs) {
    Duration age = inputs.duration(KEEP_FINISHED, 0, TimeText.LONGEST.toMillis()).orElse(null);
    int count = inputs.number(KEEP_COUNT, 0, (int) Retention.MAX_COUNT, -1);
    return age == null && count < 0
        ? Retention.FOREVER
        : new Retention(age, count < 0 ? null : (long) count);
  }

  /**
   * Reads from a node's data the limits under which it starts.
   *
   * @throws InvalidGraphException if one of the keys is invalid; the message names it
   */
  public static NodeLimits limits(Map<String, JsonNode> data) {
    Inputs inputs = new Inputs(data);
    Map<String, String> fields = new TreeMap<>();
    for (Field field : List.of(Field.LIMITS, Field.KEY_RUNNING, Field.KEY_STARTS)) {
      inputs.setting(field.key()).ifPresent(text -> fields.put(field.key(), text));
      if (field != Field.LIMITS) {
        inputs.onlyWith(field.key(), LIMIT_KEY);
      }
    }
    if (fields.isEmpty()) {
      inputs.onlyWith(LIMIT_KEY, Field.LIMITS.key());
      inputs.onlyWith(PRIORITY_LEVEL, Field.LIMITS.key());
      return NodeLimits.NONE;
    }
    Optional<String> key = inputs.optionalText(LIMIT_KEY);
    key.map(text -> text.getBytes(StandardCharsets.UTF_8).length)
        .filter(bytes -> bytes == 0 || bytes > MAX_KEY_BYTES)
        .ifPresent(_ -> {
          throw new InvalidGraphException(
              LIMIT_KEY + " must have 1 to " + MAX_KEY_BYTES + " bytes of UTF-8");
        });
    try {
      Throttling limits = new Policy(fields).throttling();
      return new NodeLimits(
          limits.shared(),
          key.orElse(null),
          inputs.number(PRIORITY_LEVEL, 0, Lane.MAX_PRIORITY, 0),
          limits.key());
    } catch (PolicyException e) {
      throw new InvalidGraphException(String.valueOf(e.getMessage()));
    }
  }

  /**
   * Reads the policy from a node's data, and checks its timing and limits.
   *
   * @throws InvalidGraphException if one of the keys is invalid; the message names it
   */
  public static RunPolicy of(Map<String, JsonNode> data) {
    Inputs inputs = new Inputs(data);
    Map<String, String> fields = new TreeMap<>();
    for (Field field : OF_RETRIES) {
      inputs.setting(field.key()).ifPresent(text -> fields.put(field.key(), text));
    }
    var _ = timing(data);
    var _ = limits(data);
    refuseBoth(inputs, RETRIES, Field.ATTEMPTS);
    refuseBoth(inputs, BACKOFF, Field.RETRY_DELAY);
    try {
      return new RunPolicy(
          retries(inputs, new Policy(fields).over(DEFAULTS)),
          inputs.number(INTERRUPTIONS, 0, MAX_INTERRUPTIONS, 0),
          inputs.duration(TIMEOUT, 1, YEAR_MILLIS).orElse(null));
    } catch (PolicyException e) {
      throw new InvalidGraphException(String.valueOf(e.getMessage()));
    }
  }

  /**
   * Reads the policy of a node that was stored when only {@code retries}, {@code backoff} and
   * {@code timeout} had a meaning; the default policy if that is invalid too.
   */
  public static RunPolicy ofFirstVersion(Map<String, JsonNode> data) {
    Map<String, JsonNode> known = new TreeMap<>(data);
    known.keySet().retainAll(Set.of(RETRIES, BACKOFF, TIMEOUT));
    try {
      return of(known);
    } catch (InvalidGraphException e) {
      return DEFAULT;
    }
  }

  private static void refuseBoth(Inputs inputs, String older, Field field) {
    if (inputs.has(older) && inputs.has(field.key())) {
      throw new InvalidGraphException(
          "%s and %s are both set; %1$s is an older form of %2$s".formatted(older, field.key()));
    }
  }

  private static RetryPolicy retries(Inputs inputs, Policy policy) {
    RetryPolicy read = policy.retries();
    int attempts =
        inputs.has(RETRIES) ? inputs.number(RETRIES, 0, MAX_RETRIES, 0) + 1 : read.attempts();
    Optional<Duration> backoff = inputs.millis(BACKOFF, 0, DAY_MILLIS).map(Duration::ofMillis);
    // A first pause that is longer than the longest one was always kept.
    boolean keeps = backoff.isPresent() && !inputs.has(Field.RETRY_MAX_DELAY.key());
    Duration maxDelay =
        keeps && backoff.get().compareTo(read.maxDelay()) > 0 ? backoff.get() : read.maxDelay();
    return new RetryPolicy(
        attempts,
        backoff.map(List::of).orElse(read.delays()),
        read.factor(),
        maxDelay,
        read.jitter(),
        read.except(),
        read.snoozes());
  }

  /** The timeout in seconds for people; for a policy that has one. */
  public String timeoutText() {
    return Inputs.seconds(timeout == null ? 0 : timeout.toMillis()) + " s";
  }
}
