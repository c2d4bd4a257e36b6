package io.millrace.jobs.registry;

import io.millrace.jobs.JobTypes;
import io.millrace.jobs.JobTypes.JobType;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Throttling;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.work.Step;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.Policy.Field;
import io.millrace.work.policy.PolicyException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
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
    Map<String, String> fields = new TreeMap<>();
    JobJson.read(document.body())
        .properties()
        .forEach(field -> fields.put(field.getKey(), field.getValue().asString()));
    return new Policy(fields);
  }

  private static Bytes write(Policy policy) {
    ObjectNode json = JobJson.object();
    policy.fields().forEach(json::put);
    return JobJson.write(json);
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
    Map<String, Policy> set = new TreeMap<>();
    for (Document document : store.all(Keys.SETTINGS)) {
      set.put(document.key().key().substring(1), read(document));
    }
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
}
