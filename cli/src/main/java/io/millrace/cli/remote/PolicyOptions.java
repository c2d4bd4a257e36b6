package io.millrace.cli.remote;

import io.millrace.cli.terminal.UsageException;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.Policy.Field;
import io.millrace.work.policy.PolicyException;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The settings of retries and uniqueness, for tasks, jobs, nodes of graphs and the queues that have
 * defaults for them.
 */
public class PolicyOptions {
  private static final String UNSET = "default";

  @Option(
      names = "--retries",
      paramLabel = "N",
      description = "How often it is tried again after a failure. Default: 0")
  private @Nullable String retries;

  @Option(
      names = "--retry-delay",
      paramLabel = "TIME[,TIME…]",
      description =
          "The pause before the first retry; each further pause is twice as long, or see"
              + " --retry-factor. Several times are used in order, the last one repeatedly."
              + " Default: 10s, for nodes of graphs 1s")
  private @Nullable String delay;

  @Option(
      names = "--retry-factor",
      paramLabel = "F",
      description =
          "How many times as long as the last each pause is; 1 for equal pauses. Default: 2")
  private @Nullable String factor;

  @Option(
      names = "--retry-max-delay",
      paramLabel = "TIME",
      description = "The longest pause. Default: 1h")
  private @Nullable String maxDelay;

  @Option(
      names = "--retry-jitter",
      paramLabel = "PART",
      description =
          "By which part each pause is at random shorter or longer, from 0 to 1. Default: 0.1,"
              + " for nodes of graphs 0")
  private @Nullable String jitter;

  @Option(
      names = "--retry-except",
      paramLabel = "CODE[,CODE…]",
      description = "The exit codes, or other codes of failures, that are not tried again.")
  private @Nullable String except;

  @Option(
      names = "--snoozes",
      paramLabel = "N",
      description = "How often it may ask to be put off. Default: 1000")
  private @Nullable String snoozes;

  @Option(
      names = "--unique",
      paramLabel = "KEY",
      description = "A key: what is submitted with the key of unfinished work is a duplicate.")
  private @Nullable String unique;

  @Option(
      names = "--unique-fields",
      paramLabel = "NAME[,NAME…]",
      description = "The params, or fields of a job's payload, whose values make such a key.")
  private @Nullable String uniqueFields;

  @Option(
      names = "--unique-scope",
      paramLabel = "SCOPE",
      description =
          "How long the key is held: queued (until it starts) or unfinished. Default: unfinished")
  private @Nullable String uniqueScope;

  @Option(
      names = "--unique-period",
      paramLabel = "TIME",
      description = "Holds the key for this time from the submission instead.")
  private @Nullable String uniquePeriod;

  /**
   * What was given, by field; a text that takes a setting away is empty.
   *
   * @param changes whether {@code default} takes a setting away
   * @throws UsageException if a value is invalid
   */
  public Map<String, String> fields(boolean changes) {
    Map<String, String> fields = new TreeMap<>();
    if (retries != null) {
      fields.put(
          Field.ATTEMPTS.key(),
          retries.equals(UNSET)
              ? UNSET
              : Integer.toString(Math.addExact(Arguments.count("--retries", retries), 1)));
    }
    put(fields, Field.RETRY_DELAY, delay);
    put(fields, Field.RETRY_FACTOR, factor);
    put(fields, Field.RETRY_MAX_DELAY, maxDelay);
    put(fields, Field.RETRY_JITTER, jitter);
    put(fields, Field.RETRY_EXCEPT, except);
    put(fields, Field.SNOOZES, snoozes);
    put(fields, Field.UNIQUE, unique);
    put(fields, Field.UNIQUE_FIELDS, uniqueFields);
    put(fields, Field.UNIQUE_SCOPE, uniqueScope);
    put(fields, Field.UNIQUE_PERIOD, uniquePeriod);
    addTo(fields);
    if (changes) {
      fields.replaceAll((_, text) -> text.equals(UNSET) ? "" : text);
    }
    try {
      Policy.NONE.with(fields);
    } catch (PolicyException e) {
      throw new UsageException(String.valueOf(e.getMessage()), e);
    }
    return fields;
  }

  /** Adds further settings. */
  void addTo(Map<String, String> fields) {}

  private static void put(Map<String, String> fields, Field field, @Nullable String text) {
    if (text != null) {
      fields.put(field.key(), text);
    }
  }

  /** The settings of tasks, whose attempts may also have a timeout. */
  public static final class OfTasks extends PolicyOptions {
    // Not --timeout, which is how long tasks submit --wait waits.
    @Option(
        names = "--run-timeout",
        paramLabel = "TIME",
        description = "How long one attempt may take; then it is ended and has failed.")
    private @Nullable String timeout;

    @Override
    void addTo(Map<String, String> fields) {
      put(fields, Field.TIMEOUT, timeout);
    }
  }
}
