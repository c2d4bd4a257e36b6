package io.millrace.jobs.registry;

import io.millrace.blobs.Value;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobTypes;
import io.millrace.jobs.JobTypes.JobType;
import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.jobs.Submission;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.Throttling;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.Policy.Field;
import io.millrace.work.policy.PolicyException;
import io.millrace.work.policy.SharedLimits;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The limits under which jobs of each type are given out, and the keys and priorities of jobs. The
 * jobs of a type wait in several groups, so its limits are those of their common prefix; the kernel
 * observes them when jobs are claimed. Immutable.
 */
final class TypeLimits {
  private final JobTypes types;
  private final Map<String, Throttling> limits = new HashMap<>();

  TypeLimits(JobTypes types) {
    this.types = types;
    List<String> names =
        types.isEmpty() ? List.of("") : types.all().stream().map(JobType::name).toList();
    for (String name : names) {
      Throttling of = types.policy(name).throttling();
      if (!of.equals(Throttling.NONE)) {
        limits.put(name, of);
      }
    }
  }

  /** Whether jobs of a type have limits. */
  boolean isLimited(String type) {
    return limits.containsKey(type);
  }

  /** Writes the limits of all types to the store, and removes those of types without any. */
  void settle(JobStore store) {
    Map<DocumentKey, Throttling> wanted = new HashMap<>();
    limits.forEach((type, of) -> wanted.put(Throttling.ofPrefix(Groups.prefix(type)), of));
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
   * How long to wait before jobs of a type are asked for again that limits keep waiting: no change
   * of a job tells when a limit of starts or a shared one has room again.
   *
   * @return empty if no such job waits
   */
  Optional<Duration> pause(String type, JobStore store, List<String> groups) {
    Throttling of = limits.get(type);
    boolean waits =
        of != null
            && groups.stream()
                .anyMatch(group ->
                    !store.store().group(GroupQuery.waiting(group).withLimit(1)).value().isEmpty());
    return waits && of != null ? Optional.of(SharedLimits.pause(of)) : Optional.empty();
  }

  /**
   * A submission with the key and priority that its type gives it.
   *
   * @throws InvalidJobException if a field of the payload is the key, and the payload has none
   */
  Submission inLane(Submission order, Value payload) {
    Policy defaults = types.policy(order.type());
    if (defaults.isEmpty()) {
      return order;
    }
    Policy own = order.policy();
    Optional<String> field = own.over(defaults).keyField();
    String key = own.key().isPresent() || field.isEmpty() ? "" : key(field.get(), payload);
    return withLane(order, key, defaults);
  }

  /** A job that is made of a result, with the key of the job that has this result. */
  Submission ofChild(Submission order, Job parent) {
    return withLane(order, parent.order().policy().key().orElse(""), types.policy(order.type()));
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
            .flatMap(inline -> JobJson.object(((Value.Inline) inline).bytes()))
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
}
