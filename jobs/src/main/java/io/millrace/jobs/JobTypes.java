package io.millrace.jobs;

import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.work.policy.Policy;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The job types of a server. Immutable.
 *
 * <p>The types are stored when the registry is opened. A later configuration that contradicts them
 * is refused: one in which a stored type is missing, or whose results become something else. A new
 * type and another description are no contradiction. {@link #replacingStored} accepts any, for one
 * start; jobs of a type that is gone then stay as they are, and can only be read and deleted.
 */
public final class JobTypes {
  /** No types: all jobs are alike. */
  public static final JobTypes NONE = new JobTypes(Map.of(), Policy.NONE, false);

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,64}");

  private final Map<String, JobType> types;
  private final Policy defaults;
  private final boolean replacesStored;

  private JobTypes(Map<String, JobType> types, Policy defaults, boolean replacesStored) {
    this.types = types;
    this.defaults = defaults;
    this.replacesStored = replacesStored;
  }

  /**
   * Checks types.
   *
   * @param types in the order in which they are listed; none for a server without types
   * @throws InvalidJobException naming a malformed or repeated name, a type of which results become
   *     and that is not there, or the circle that types form
   */
  public static JobTypes of(List<JobType> types) {
    Map<String, JobType> byName = new LinkedHashMap<>();
    for (JobType type : types) {
      if (!NAME.matcher(type.name()).matches()) {
        throw new InvalidJobException(
            "the job type \""
                + type.name()
                + "\" has no proper name: 1 to 64 characters out of A-Z a-z 0-9 . _ -");
      }
      if (byName.put(type.name(), type) != null) {
        throw new InvalidJobException("the job type " + type.name() + " is there twice");
      }
    }
    for (JobType type : types) {
      String next = type.resultBecomes();
      if (next != null && !byName.containsKey(next)) {
        throw new InvalidJobException(
            "the result of job type "
                + type.name()
                + " becomes the unknown type "
                + next
                + "; known are "
                + String.join(", ", new TreeSet<>(byName.keySet())));
      }
    }
    types.forEach(type -> refuseCircle(type, byName));
    return new JobTypes(byName, Policy.NONE, false);
  }

  private static void refuseCircle(JobType start, Map<String, JobType> byName) {
    List<String> path = new ArrayList<>();
    for (@Nullable JobType type = start; type != null; type = next(type, byName)) {
      int before = path.indexOf(type.name());
      path.add(type.name());
      if (before >= 0) {
        throw new InvalidJobException(
            "job types go round in a circle: "
                + String.join(" -> ", path.subList(before, path.size())));
      }
    }
  }

  private static @Nullable JobType next(JobType type, Map<String, JobType> byName) {
    return type.resultBecomes() == null ? null : byName.get(type.resultBecomes());
  }

  /** The same, taking the place of whatever types are stored. */
  public JobTypes replacingStored() {
    return new JobTypes(types, defaults, true);
  }

  /** The same with settings for jobs of types that have none of their own, or of no type. */
  public JobTypes withDefaults(Policy settings) {
    return new JobTypes(types, settings, replacesStored);
  }

  /** Whether these types replace whatever types are stored. */
  public boolean replacesStored() {
    return replacesStored;
  }

  /** Whether there are none, so that jobs are of the type without a name. */
  public boolean isEmpty() {
    return types.isEmpty();
  }

  /** All types in the order in which they were given; none on a server without types. */
  public List<JobType> all() {
    return List.copyOf(types.values());
  }

  /** The type of this name; the empty name finds one on a server without types only. */
  public Optional<JobType> find(String name) {
    if (types.isEmpty()) {
      return name.isEmpty() ? Optional.of(new JobType("", null, null)) : Optional.empty();
    }
    return Optional.ofNullable(types.get(name));
  }

  /**
   * The type of this name.
   *
   * @throws InvalidJobException when there is none, in words that help
   */
  public JobType require(String name) {
    return find(name).orElseThrow(() -> new InvalidJobException(unknown(name)));
  }

  private String unknown(String name) {
    if (types.isEmpty()) {
      return "this server has no job types, so there is no type " + name;
    }
    String known = String.join(", ", types.keySet());
    return name.isEmpty()
        ? "this server has job types; name one of " + known
        : "there is no job type " + name + "; known are " + known;
  }

  /** What the result of a job of this type becomes a job of; null for nothing. */
  public @Nullable JobType next(String name) {
    JobType type = types.get(name);
    return type == null ? null : next(type, types);
  }

  /** The settings of jobs of a type that have none of their own, each by itself. */
  public Policy policy(String name) {
    JobType type = types.get(name);
    return type == null ? defaults : type.policy().over(defaults);
  }

  /**
   * A kind of job, for workers of that kind.
   *
   * @param name 1 to 64 characters out of {@code A-Z a-z 0-9 . _ -}; empty for the jobs of a server
   *     without types
   * @param description for people; null for none
   * @param resultBecomes the type of which each result becomes a new job; null for none
   * @param policy the settings of its jobs that have none of their own; not stored
   */
  public record JobType(
      String name, @Nullable String description, @Nullable String resultBecomes, Policy policy) {
    /** Without settings for its jobs. */
    public JobType(String name, @Nullable String description, @Nullable String resultBecomes) {
      this(name, description, resultBecomes, Policy.NONE);
    }
  }
}
