package io.millrace.work.policy;

import io.millrace.store.Task;
import io.millrace.store.Throttling;
import io.millrace.store.Throttling.Limit;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The settings of a piece of work, or the defaults of its queue or type, as text by field; a field
 * that is absent has a default. Immutable.
 *
 * @param fields the texts by {@link Field#key}, all of them valid
 */
public record Policy(Map<String, String> fields) {
  /** No settings: everything has its default. */
  public static final Policy NONE = new Policy(Map.of());

  /** The fields of a policy. */
  public enum Field {
    /** The most attempts. */
    ATTEMPTS("attempts", true),
    /** The first pause before a retry, or all pauses, separated by commas. */
    RETRY_DELAY("retry_delay", false),
    /** By how much each pause is longer than the one before. */
    RETRY_FACTOR("retry_factor", true),
    /** The longest pause. */
    RETRY_MAX_DELAY("retry_max_delay", false),
    /** By which part a pause varies at random. */
    RETRY_JITTER("retry_jitter", true),
    /** The codes of failures that are not retried, separated by commas. */
    RETRY_EXCEPT("retry_except", false),
    /** How often the work may be put off. */
    SNOOZES("snoozes", true),
    /** How long one attempt may take. */
    TIMEOUT("timeout", false),
    /** How long it may wait for the start of an attempt. */
    WAIT_TIMEOUT("wait_timeout", false),
    /** How long all of it may take. */
    TOTAL_TIMEOUT("total_timeout", false),
    /** A key: work with the same key is a duplicate. */
    UNIQUE("unique", false),
    /** The params that make such a key, separated by commas. */
    UNIQUE_FIELDS("unique_fields", false),
    /** In which states the key is held. */
    UNIQUE_SCOPE("unique_scope", false),
    /** How long the key is held whatever the state is. */
    UNIQUE_PERIOD("unique_period", false),
    /** How long finished work stays in the store; of queues and types only. */
    KEEP_FINISHED("keep_finished", false),
    /** How much finished work stays in the store; of queues and types only. */
    KEEP_COUNT("keep_count", true),
    /** For whom the work is done: the keys of a queue take turns. */
    KEY("key", false),
    /** The param whose value is the key. */
    KEY_FIELD("key_field", false),
    /** The priority, from 0 to 9. */
    PRIORITY("priority", true),
    /** Words by which the work is found, separated by commas; of single tasks and jobs only. */
    TAGS("tags", false),
    /** How many may run at a time; of job types only, since queues have threads. */
    RUNNING("running", true),
    /** How many may start in a time, such as {@code 100/1m}; of queues and types only. */
    STARTS("starts", false),
    /** How many of each key may run at a time; of queues and types only. */
    KEY_RUNNING("key_running", true),
    /** How many of each key may start in a time; of queues and types only. */
    KEY_STARTS("key_starts", false),
    /** How much waiting a level of priority is worth; of queues and types only. */
    AGEING("ageing", false),
    /** How many tasks keys take in one turn: {@code ann=3,bob=2}; of queues and types only. */
    WEIGHTS("weights", false),
    /** The shared limits that apply too, separated by commas; of queues and types only. */
    LIMITS("limits", false);

    private static final Set<Field> LIMITING =
        EnumSet.of(RUNNING, STARTS, KEY_RUNNING, KEY_STARTS, AGEING, WEIGHTS, LIMITS);
    private static final Set<Field> OF_RETRIES =
        EnumSet.of(
            ATTEMPTS, RETRY_DELAY, RETRY_FACTOR, RETRY_MAX_DELAY, RETRY_JITTER, RETRY_EXCEPT);
    private static final Set<Field> KEPT = EnumSet.of(KEEP_FINISHED, KEEP_COUNT);
    private static final Set<Field> OF_LANES = EnumSet.of(KEY, KEY_FIELD, PRIORITY);

    private final String key;
    private final boolean number;

    Field(String key, boolean number) {
      this.key = key;
      this.number = number;
    }

    /** Its name in requests and documents. */
    public String key() {
      return key;
    }

    /** Whether its values are numbers. */
    public boolean isNumber() {
      return number;
    }

    /** Whether a job may have it under this name, since its key and priority mean others. */
    public boolean isOfJobs() {
      return isOfWork() && !OF_LANES.contains(this);
    }

    /** Whether all jobs of a type may have it in common. */
    public boolean isOfTypes() {
      return this != KEY && this != TAGS;
    }

    /** Whether it says how long finished work stays. */
    public boolean isOfRetention() {
      return KEPT.contains(this);
    }

    /** Whether a single task or job may have it, and not only a queue or type. */
    public boolean isOfWork() {
      return !LIMITING.contains(this) && !KEPT.contains(this);
    }

    /** The field of this name. */
    public static Optional<Field> of(String key) {
      return Arrays.stream(values()).filter(field -> field.key.equals(key)).findFirst();
    }

    /** The names of the fields that a queue may have. */
    public static Set<String> keysOfQueues() {
      return Arrays.stream(values())
          .filter(field -> field != RUNNING && field != TAGS)
          .map(Field::key)
          .collect(Collectors.toUnmodifiableSet());
    }

    /** The names of the fields that may be set for a job type while the server runs. */
    public static Set<String> keysOfTypes() {
      return Arrays.stream(values())
          .filter(field -> field.isOfTypes() && !field.isOfRetention())
          .map(Field::key)
          .collect(Collectors.toUnmodifiableSet());
    }

    private static final Set<String> OF_WORK =
        Arrays.stream(values())
            .filter(Field::isOfWork)
            .map(Field::key)
            .collect(Collectors.toUnmodifiableSet());

    /** The names of the fields that a single task may have. */
    public static Set<String> keysOfWork() {
      return OF_WORK;
    }
  }

  /**
   * Sorts the fields and checks them.
   *
   * @throws PolicyException naming the first field that is unknown or whose value is invalid
   */
  public Policy {
    for (Map.Entry<String, String> each : fields.entrySet()) {
      Field field =
          Field.of(each.getKey())
              .orElseThrow(
                  () -> new PolicyException(each.getKey(), "there is no field " + each.getKey()));
      FieldValues.check(field, each.getValue());
    }
    fields = Collections.unmodifiableMap(new TreeMap<>(fields));
  }

  /**
   * Reads settings on one line, such as {@code attempts=5 retry_delay=1s,1m}.
   *
   * @throws PolicyException naming the first field that is unknown or whose value is invalid
   */
  public static Policy parse(String line) {
    Map<String, String> fields = new TreeMap<>();
    for (String each : line.strip().split("\\s+", -1)) {
      int equals = each.indexOf('=');
      if (equals <= 0) {
        throw new PolicyException("", "expected field=value, not " + each);
      }
      fields.put(each.substring(0, equals), each.substring(equals + 1));
    }
    return new Policy(fields);
  }

  /**
   * Reads a JSON object with the fields as texts.
   *
   * @param json null, or what is no object, for no settings
   * @throws PolicyException naming the first field that is unknown or whose value is invalid
   */
  public static Policy read(@Nullable JsonNode json) {
    if (!(json instanceof ObjectNode object)) {
      return NONE;
    }
    Map<String, String> fields = new TreeMap<>();
    object.forEachEntry((field, text) -> fields.put(field, text.asString()));
    return new Policy(fields);
  }

  /** Whether nothing is set. */
  public boolean isEmpty() {
    return fields.isEmpty();
  }

  /** Whether it says how often, when or after which failures work is tried again. */
  public boolean setsRetries() {
    return Field.OF_RETRIES.stream().anyMatch(field -> fields.containsKey(field.key));
  }

  /** These settings, and for those that are absent the ones of {@code defaults}. */
  public Policy over(Policy defaults) {
    if (fields.isEmpty() || defaults.fields.isEmpty()) {
      return fields.isEmpty() ? defaults : this;
    }
    Map<String, String> both = new TreeMap<>(defaults.fields);
    both.putAll(fields);
    return new Policy(both);
  }

  /**
   * These settings with changes.
   *
   * @param changes the new texts by name of the field; an empty one takes a setting away
   * @throws PolicyException naming the first field that is unknown or whose value is invalid
   */
  public Policy with(Map<String, String> changes) {
    if (changes.isEmpty()) {
      return this;
    }
    Map<String, String> next = new TreeMap<>(fields);
    changes.forEach((field, text) -> {
      if (text.isEmpty()) {
        next.remove(field);
      } else {
        next.put(field, text);
      }
    });
    return next.isEmpty() ? NONE : new Policy(next);
  }

  /** How long one attempt may take; empty for any time. */
  public Optional<Duration> timeout() {
    return limit(Field.TIMEOUT);
  }

  /** How long it may wait for the start of an attempt; empty for any time. */
  public Optional<Duration> waitTimeout() {
    return limit(Field.WAIT_TIMEOUT);
  }

  /** How long all of it may take; empty for any time. */
  public Optional<Duration> totalTimeout() {
    return limit(Field.TOTAL_TIMEOUT);
  }

  private Optional<Duration> limit(Field field) {
    String text = fields.get(field.key);
    return text == null ? Optional.empty() : Optional.of(FieldValues.period(field, text));
  }

  /** How long finished work stays in the store; what is absent is that of {@code otherwise}. */
  public Retention retention(Retention otherwise) {
    return new Retention(
        this.<@Nullable Duration>get(Field.KEEP_FINISHED, FieldValues::duration, otherwise.age()),
        this.<@Nullable Long>get(Field.KEEP_COUNT, FieldValues::kept, otherwise.count()));
  }

  /** The key for whose turns and limits the work counts; empty if none is set. */
  public Optional<String> key() {
    return Optional.ofNullable(fields.get(Field.KEY.key));
  }

  /** The param whose value is that key; empty if none is set. */
  public Optional<String> keyField() {
    return Optional.ofNullable(fields.get(Field.KEY_FIELD.key));
  }

  /** The words by which the work is found; none by default. */
  public List<String> tags() {
    return get(Field.TAGS, FieldValues::tags, List.of());
  }

  /** The priority, from 0, the default. */
  public int priority() {
    return get(Field.PRIORITY, FieldValues::priority, 0);
  }

  /**
   * The key and priority of work whose key is not to be looked up in its params; null for neither.
   */
  public Task.@Nullable Lane lane() {
    return Task.Lane.of(key().orElse(""), priority());
  }

  /**
   * The limits under which the work of a queue or type starts, apart from the threads of a queue.
   */
  public Throttling throttling() {
    return new Throttling(
        limit(Field.RUNNING, Field.STARTS),
        limit(Field.KEY_RUNNING, Field.KEY_STARTS),
        get(Field.AGEING, FieldValues::ageingMillis, Throttling.AGEING_MILLIS),
        get(Field.WEIGHTS, FieldValues::weights, Map.of()),
        get(Field.LIMITS, FieldValues::shared, List.of()));
  }

  private Limit limit(Field atOnce, Field inTime) {
    int running = get(atOnce, FieldValues::running, 0);
    return get(
        inTime,
        (field, text) -> FieldValues.starts(field, text, running),
        new Limit(running, 0, 0));
  }

  /** By what the work is unique; empty if it is not. */
  public Optional<UniqueKey> unique() {
    String key = fields.get(Field.UNIQUE.key);
    String names = fields.get(Field.UNIQUE_FIELDS.key);
    if (key == null && names == null) {
      return Optional.empty();
    }
    return Optional.of(
        new UniqueKey(
            key,
            key != null || names == null
                ? List.of()
                : FieldValues.names(Field.UNIQUE_FIELDS, names),
            get(Field.UNIQUE_SCOPE, FieldValues::scope, UniqueKey.Scope.UNFINISHED),
            this.<@Nullable Duration>get(Field.UNIQUE_PERIOD, FieldValues::period, null)));
  }

  /** What follows from failures. */
  public RetryPolicy retries() {
    RetryPolicy otherwise = RetryPolicy.DEFAULTS;
    return new RetryPolicy(
        get(Field.ATTEMPTS, FieldValues::attempts, otherwise.attempts()),
        get(Field.RETRY_DELAY, FieldValues::durations, otherwise.delays()),
        get(Field.RETRY_FACTOR, FieldValues::factor, otherwise.factor()),
        get(Field.RETRY_MAX_DELAY, FieldValues::duration, otherwise.maxDelay()),
        get(Field.RETRY_JITTER, FieldValues::jitter, otherwise.jitter()),
        get(Field.RETRY_EXCEPT, FieldValues::codes, otherwise.except()),
        get(Field.SNOOZES, FieldValues::snoozes, otherwise.snoozes()));
  }

  private <T extends @Nullable Object> T get(
      Field field, BiFunction<Field, String, T> read, T otherwise) {
    @Nullable String text = fields.get(field.key);
    return text == null ? otherwise : read.apply(field, text);
  }
}
