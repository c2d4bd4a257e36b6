package io.millrace.jobs.registry;

import io.millrace.blobs.Value;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobTypes;
import io.millrace.jobs.JobTypes.JobType;
import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.jobs.Submission;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.Throttling;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.work.Step;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.Policy.Field;
import io.millrace.work.policy.PolicyException;
import io.millrace.work.policy.Retention;
import io.millrace.work.policy.SharedLimits;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The settings of job types: those of the configuration, and over them, field by field, those that
 * were set while the server runs. The latter are stored, so they outlive restarts, and count for
 * all servers of the store. Limits are those of the common prefix of the groups in which the jobs
 * of a type wait; the kernel observes them when jobs are claimed, so they are stored in the same
 * commit.
 *
 * <p>What counts is held in memory, since a submission on an event loop must not wait for the
 * store. A step reads it once a second, so that a change by another process shows within that time.
 * Safe for use by threads.
 */
public final class TypeSettings implements Step {
  private static final Duration INTERVAL = Duration.ofSeconds(1);

  private final JobStore store;
  private final JobTypes types;
  private volatile Snapshot current = new Snapshot(Map.of(), Map.of(), Map.of());
  private volatile Runnable whenChanged = () -> {};

  TypeSettings(JobStore store, JobTypes types) {
    this.store = store;
    this.types = types;
  }

  /**
   * What counts at a time.
   *
   * @param set what was set while the server runs, by type
   * @param policies the settings of types for which something was set
   * @param limits the limits of the types that have any
   */
  private record Snapshot(
      Map<String, Policy> set, Map<String, Policy> policies, Map<String, Throttling> limits) {}

  private static DocumentKey key(String type) {
    return new DocumentKey(Keys.SETTINGS, "/" + type);
  }

  private static Policy read(Document document) {
    return Policy.read(Json.read(document.body()));
  }

  private static Bytes write(Policy policy) {
    return Json.write(json(policy));
  }

  static ObjectNode json(Policy policy) {
    ObjectNode json = Json.object();
    policy.fields().forEach(json::put);
    return json;
  }

  private List<String> names() {
    return types.isEmpty() ? List.of("") : types.all().stream().map(JobType::name).toList();
  }

  /** Reads what another process may have changed. */
  @Override
  public Instant step(Instant now) {
    refresh();
    return now.plus(INTERVAL);
  }

  private synchronized void refresh() {
    Map<String, Policy> set = stored();
    if (!set.equals(current.set()) || current.policies().isEmpty()) {
      boolean changes = !set.equals(current.set());
      Map<String, Policy> policies = new HashMap<>();
      Map<String, Throttling> limits = new HashMap<>();
      for (String type : names()) {
        Policy policy = set.getOrDefault(type, Policy.NONE).over(types.policy(type));
        policies.put(type, policy);
        Throttling of = policy.throttling();
        if (!of.equals(Throttling.NONE)) {
          limits.put(type, of);
        }
      }
      current = new Snapshot(set, policies, limits);
      if (changes) {
        whenChanged.run();
      }
    }
  }

  /** Runs {@code action} after every change, on the thread that made or noticed it. */
  public void onChange(Runnable action) {
    whenChanged = action;
  }

  /** As {@link #set}, read from the store. */
  public Map<String, Policy> stored() {
    Map<String, Policy> set = new TreeMap<>();
    for (Document document : store.all(Keys.SETTINGS)) {
      set.put(document.key().key().substring(1), read(document));
    }
    return set;
  }

  /** What was set while the server runs, by the names of the types; the empty name is no type. */
  public Map<String, Policy> set() {
    return current.set();
  }

  /** The settings of jobs of a type that have none of their own, each by itself. */
  public Policy policy(String type) {
    Policy known = current.policies().get(type);
    return known == null ? types.policy(type) : known;
  }

  /** The limits of a type; {@link Throttling#NONE} for none. */
  Throttling limits(String type) {
    return current.limits().getOrDefault(type, Throttling.NONE);
  }

  /** Whether jobs of a type have limits. */
  boolean isLimited(String type) {
    return !limits(type).equals(Throttling.NONE);
  }

  /** Whether jobs of a type have limits that others share. */
  boolean sharesLimits(String type) {
    return !limits(type).shared().isEmpty();
  }

  /**
   * How long to wait before jobs of a type are asked for again that limits keep waiting: no change
   * of a job tells when a limit of starts or a shared one has room again.
   *
   * @return empty if no such job waits
   */
  Optional<Duration> pause(String type, List<String> groups) {
    Throttling of = limits(type);
    boolean waits =
        !of.equals(Throttling.NONE)
            && groups.stream()
                .anyMatch(group ->
                    !store.store().group(GroupQuery.waiting(group).withLimit(1)).value().isEmpty());
    return waits ? Optional.of(SharedLimits.pause(of)) : Optional.empty();
  }

  /**
   * A submission with the key and priority that its type gives it.
   *
   * @throws InvalidJobException if a field of the payload is the key, and the payload has none
   */
  Submission inLane(Submission order, Value payload) {
    return inLane(order, () -> payload);
  }

  /** The same with a payload that is read if a field of it is the key. */
  Submission inLane(Submission order, Supplier<Value> payload) {
    Policy defaults = policy(order.type());
    if (defaults.isEmpty()) {
      return order;
    }
    Policy own = order.policy();
    Optional<String> field = own.over(defaults).keyField();
    String key = own.key().isPresent() || field.isEmpty() ? "" : key(field.get(), payload.get());
    return withLane(order, key, defaults);
  }

  /** A job that is made of a result, with the key of the job that has this result. */
  Submission ofChild(Submission order, Job parent) {
    return withLane(order, parent.order().policy().key().orElse(""), policy(order.type()));
  }

  private static Submission withLane(Submission order, String key, Policy defaults) {
    Policy own = order.policy();
    Map<String, String> lane = new HashMap<>();
    if (!key.isEmpty()) {
      lane.put(Field.KEY.key(), key);
    }
    int priority = own.over(defaults).priority();
    if (priority != own.priority()) {
      lane.put(Field.PRIORITY.key(), Integer.toString(priority));
    }
    try {
      return lane.isEmpty() ? order : order.withPolicy(own.with(lane));
    } catch (PolicyException e) {
      throw new InvalidJobException(Objects.requireNonNull(e.getMessage()));
    }
  }

  /** The value of a field of a payload as a key; none if it is absent, null or empty. */
  private static String key(String field, Value payload) {
    ObjectNode fields =
        Optional.of(payload)
            .filter(Value.Inline.class::isInstance)
            .flatMap(inline -> Json.object(((Value.Inline) inline).bytes()))
            .orElseThrow(() ->
                new InvalidJobException(
                    "key_field needs a payload that is a JSON object of at most "
                        + Value.INLINE_LIMIT
                        + " bytes"));
    @Nullable JsonNode value = fields.get(field);
    if (value == null || value.isNull()) {
      return "";
    }
    if (value.isObject() || value.isArray()) {
      throw new InvalidJobException(
          "field "
              + field
              + " of the payload is the key of the job, and must be a text, number or"
              + " boolean");
    }
    return value.asString();
  }

  /**
   * Changes what is set for a type.
   *
   * @param type its name; empty for jobs without a type
   * @param changes texts by the names of fields; an empty one takes back what was set
   * @param replaces whether what is not among the changes is taken back too
   * @return what is set then
   * @throws PolicyException naming the first field that is unknown, invalid, or no setting of a
   *     type; how long jobs stay is set by {@link TypeRetentions}
   */
  public Policy change(String type, Map<String, String> changes, boolean replaces) {
    for (String field : changes.keySet()) {
      Field known =
          Field.of(field)
              .orElseThrow(() -> new PolicyException(field, "there is no setting " + field));
      if (known.isOfRetention()) {
        throw new PolicyException(field, field + " is set under /retention/jobs");
      }
      if (!known.isOfTypes()) {
        throw new PolicyException(field, field + " is no setting of a job type");
      }
    }
    Policy next =
        store.retry(
            "the settings of a type",
            () -> {
              Document there = store.document(key(type)).orElse(null);
              Policy old = there == null || replaces ? Policy.NONE : read(there);
              Policy now = old.with(changes);
              return write(type, there, now) ? now : null;
            });
    refresh();
    return next;
  }

  private boolean write(String type, @Nullable Document there, Policy set) {
    Transaction.Builder transaction = store.begin();
    boolean changes = true;
    if (set.isEmpty()) {
      if (there != null) {
        transaction.delete(there.key(), there.version());
      } else {
        changes = false;
      }
    } else {
      transaction.put(
          key(type), there == null ? DocumentVersion.ABSENT : there.version(), write(set));
    }
    Throttling limits = set.over(types.policy(type)).throttling();
    DocumentKey limited = Throttling.ofPrefix(Groups.prefix(type));
    Document before = store.document(limited).orElse(null);
    if (!limits.equals(Throttling.NONE)) {
      if (before == null || !before.body().equals(limits.body())) {
        transaction.put(
            limited, before == null ? DocumentVersion.ABSENT : before.version(), limits.body());
        changes = true;
      }
    } else if (before != null) {
      transaction.delete(limited, before.version());
      changes = true;
    }
    return !changes || store.tryCommit(transaction.build()) != null;
  }

  /** Writes the limits of all types to the store, and removes those of types without any. */
  void settle() {
    refresh();
    Map<DocumentKey, Throttling> wanted = new HashMap<>();
    current
        .limits()
        .forEach((type, of) -> wanted.put(Throttling.ofPrefix(Groups.prefix(type)), of));
    store.retry(
        "the limits of job types",
        () -> {
          Transaction.Builder transaction = Transaction.by(store.self());
          Map<DocumentKey, Throttling> missing = new HashMap<>(wanted);
          boolean changes = false;
          for (Document there : store.pages(Throttling.PREFIXES, Groups.PREFIX, "")) {
            Throttling now = missing.remove(there.key());
            if (now == null) {
              transaction.delete(there.key(), there.version());
              changes = true;
            } else if (!now.body().equals(there.body())) {
              transaction.put(there.key(), there.version(), now.body());
              changes = true;
            }
          }
          missing.forEach((key, now) -> transaction.put(key, DocumentVersion.ABSENT, now.body()));
          changes |= !missing.isEmpty();
          if (!changes) {
            return true;
          }
          return store.commit(transaction.build()) instanceof Outcome.Done ? true : null;
        });
  }

  /**
   * How long jobs of each type stay in the store, as it was set while the server runs. It takes
   * precedence over the configuration, and counts for all servers of the store. Safe for use by
   * threads.
   */
  public static final class TypeRetentions {
    private final JobStore store;

    TypeRetentions(JobStore store) {
      this.store = store;
    }

    /** What was set, by the names of the types; the empty name is for jobs without a type. */
    public Map<String, Policy> all() {
      Map<String, Policy> all = new TreeMap<>();
      for (Document document : store.all(Keys.RETENTION)) {
        all.put(document.key().key().substring(1), Policy.parse(document.body().utf8()));
      }
      return all;
    }

    /**
     * Sets how long the jobs of a type stay.
     *
     * @param type its name; empty for jobs without a type
     * @param keepFinished the age, as in {@code 7d}; empty for that of the configuration
     * @param keepCount the number; empty for that of the configuration
     * @throws PolicyException if one of them is invalid, or if both are empty
     */
    public void put(String type, String keepFinished, String keepCount) {
      Policy policy =
          Policy.NONE.with(Map.of("keep_finished", keepFinished, "keep_count", keepCount));
      if (policy.isEmpty()) {
        throw new PolicyException("", "a retention has keep_finished, keep_count or both");
      }
      StringBuilder line = new StringBuilder();
      policy
          .fields()
          .forEach((field, text) -> line.append(field).append('=').append(text).append(' '));
      var _ =
          store.retry(
              "the retention of a type",
              () ->
                  store.tryCommit(
                      store
                          .begin()
                          .put(key(type), DocumentVersion.ANY, Bytes.of(line.toString().strip()))
                          .build()));
    }

    /** Takes back what was set for a type; whether there was anything. */
    public boolean delete(String type) {
      Document there = store.document(key(type)).orElse(null);
      return there != null
          && store.tryCommit(store.begin().delete(there.key(), there.version()).build()) != null;
    }

    private static DocumentKey key(String type) {
      return new DocumentKey(Keys.RETENTION, "/" + type);
    }

    /** How long jobs of a type stay, by what {@link #all} gave. */
    static Retention of(Map<String, Policy> all, String type, Retention configured) {
      return all.getOrDefault(type, Policy.NONE).retention(configured);
    }
  }
}
