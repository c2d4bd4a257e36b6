package io.millrace.jobs.registry;

import io.millrace.blobs.Value;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.jobs.Submission;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.Throttling;
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
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * How the limits of job types, and the keys and priorities of their jobs, bear on submissions and
 * claims. Immutable.
 *
 * @param settings the settings of types, with their limits
 */
record TypeLimits(TypeSettings settings) {
  /** Whether jobs of a type have limits. */
  boolean isLimited(String type) {
    return !settings.limits(type).equals(Throttling.NONE);
  }

  /** Whether jobs of a type have limits that others share. */
  boolean sharesLimits(String type) {
    return !settings.limits(type).shared().isEmpty();
  }

  /**
   * How long to wait before jobs of a type are asked for again that limits keep waiting: no change
   * of a job tells when a limit of starts or a shared one has room again.
   *
   * @return empty if no such job waits
   */
  Optional<Duration> pause(String type, JobStore store, List<String> groups) {
    Throttling of = settings.limits(type);
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
    Policy defaults = settings.policy(order.type());
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
    return withLane(order, parent.order().policy().key().orElse(""), settings.policy(order.type()));
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
