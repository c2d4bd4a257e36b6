package io.millrace.jobs;

import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.work.policy.Policy;
import io.millrace.work.trace.TraceContext;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A job as it is submitted.
 *
 * @param type the name of its type; empty on a server without types
 * @param priority how soon
 * @param key its name for people: unique among the jobs there are, 1 to 256 characters, not of the
 *     form of a GUID; null for its GUID
 * @param description up to {@value #MAX_DESCRIPTION} characters; null for none
 * @param notBeforeMillis when it may begin, since the epoch; 0 for at once
 * @param policy settings that take precedence over those of its type
 * @param trace the span to which it belongs; null for none
 */
public record Submission(
    String type,
    Priority priority,
    @Nullable String key,
    @Nullable String description,
    long notBeforeMillis,
    Policy policy,
    @Nullable TraceContext trace) {
  /** The most characters of a description. */
  public static final int MAX_DESCRIPTION = 128;

  /** The most characters of a key. */
  public static final int MAX_KEY = 256;

  /** A job of no trace. */
  public Submission(
      String type,
      Priority priority,
      @Nullable String key,
      @Nullable String description,
      long notBeforeMillis,
      Policy policy) {
    this(type, priority, key, description, notBeforeMillis, policy, null);
  }

  /** A job that may begin at once, with the settings of its type. */
  public Submission(
      String type, Priority priority, @Nullable String key, @Nullable String description) {
    this(type, priority, key, description, 0, Policy.NONE);
  }

  /**
   * Checks the parts that need no look at the registry.
   *
   * @throws InvalidJobException naming what is wrong
   */
  public Submission {
    if (description != null) {
      checkCharacters("the description", description);
      int length = description.codePointCount(0, description.length());
      if (length > MAX_DESCRIPTION) {
        throw new InvalidJobException(
            "the description has %d characters; at most %d are allowed"
                .formatted(length, MAX_DESCRIPTION));
      }
    }
    if (key != null) {
      check(key);
    }
  }

  /** The same with other settings. */
  public Submission withPolicy(Policy other) {
    return new Submission(type, priority, key, description, notBeforeMillis, other, trace);
  }

  /** The same for another type. */
  public Submission withType(String other) {
    return new Submission(other, priority, key, description, notBeforeMillis, policy, trace);
  }

  /** The same in a trace; null for none. */
  public Submission in(@Nullable TraceContext other) {
    return other == null
        ? this
        : new Submission(type, priority, key, description, notBeforeMillis, policy, other);
  }

  private static void check(String key) {
    if (key.isEmpty() || key.length() > MAX_KEY) {
      throw new InvalidJobException("a key has 1 to " + MAX_KEY + " characters");
    }
    checkCharacters("the key", key);
    if (JobId.parse(key).isPresent()) {
      throw new InvalidJobException(
          "the key " + key + " has the form of a GUID, which is reserved");
    }
  }

  /** A half of a surrogate pair is no character, and would not survive being stored. */
  static void checkCharacters(String what, String text) {
    if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
      throw new InvalidJobException(what + " holds a half of a surrogate pair");
    }
  }
}
