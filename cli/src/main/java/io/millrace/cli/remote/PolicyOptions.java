package io.millrace.cli.remote;

import io.millrace.cli.terminal.UsageException;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.Policy.Field;
import io.millrace.work.policy.PolicyException;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The settings of retries, for nodes of graphs, jobs, tasks and queues. */
public class PolicyOptions {
  private static final String UNSET = "default";

  @Option(
      names = "--retries",
      paramLabel = "N",
      description =
          "The number of retries after a failure, one less than the attempts that settings and"
              + " answers have. Default: 0")
  private @Nullable String retries;

  @Option(
      names = "--retry-delay",
      paramLabel = "TIME[,TIME…]",
      description =
          "The delay before the first retry. Each further delay is twice as long; see"
              + " --retry-factor. If several times are given, they are used in order, and the last"
              + " one is repeated. Default: 10s; for graph nodes 1s")
  private @Nullable String delay;

  @Option(
      names = "--retry-factor",
      paramLabel = "F",
      description =
          "The factor by which the delay grows with each retry; 1 for equal delays. Default: 2")
  private @Nullable String factor;

  @Option(
      names = "--retry-max-delay",
      paramLabel = "TIME",
      description = "The maximum delay. Default: 1h")
  private @Nullable String maxDelay;

  @Option(
      names = "--retry-jitter",
      paramLabel = "PART",
      description =
          "The random part of each delay, from 0 to 1: 0.1 makes it up to a tenth shorter or"
              + " longer. Default: 0.1; for graph nodes 0")
  private @Nullable String jitter;

  @Option(
      names = "--retry-except",
      paramLabel = "CODE[,CODE…]",
      description = "Exit codes, or other failure codes, that are not retried.")
  private @Nullable String except;

  @Option(
      names = "--snoozes",
      paramLabel = "N",
      description = "How often the work may postpone itself. Default: 1000")
  private @Nullable String snoozes;

  /**
   * The given settings, by field. An empty text removes a setting.
   *
   * @param changes whether {@code default} removes a setting
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
    addTo(fields);
    if (changes) {
      fields.replaceAll((_, text) -> text.equals(UNSET) ? "" : text);
    }
    return checked(fields);
  }

  private static Map<String, String> checked(Map<String, String> fields) {
    try {
      Policy.NONE.with(fields);
    } catch (PolicyException e) {
      throw new UsageException(String.valueOf(e.getMessage()), e);
    }
    return fields;
  }

  /** Adds further settings. */
  void addTo(Map<String, String> fields) {}

  static void put(Map<String, String> fields, Field field, @Nullable String text) {
    if (text != null) {
      fields.put(field.key(), text);
    }
  }

  /** The tags of single tasks, jobs and nodes. */
  public static final class Tags {
    @Option(
        names = "--tags",
        paramLabel = "TAG[,TAG…]",
        description = "Words by which the work is found, up to 20.")
    private @Nullable String tags;

    /**
     * Adds the tags, if there are any.
     *
     * @throws UsageException if they are not valid
     */
    public void addTo(Map<String, String> fields) {
      if (tags != null) {
        fields.putAll(checked(Map.of(Field.TAGS.key(), tags)));
      }
    }
  }

  /** The settings of jobs, which may also be unique and have timeouts. */
  public static class OfJobs extends PolicyOptions {
    @Option(
        names = "--unique",
        paramLabel = "KEY",
        description =
            "A uniqueness key: while work with this key is unfinished, a submission with the same"
                + " key is a duplicate.")
    private @Nullable String unique;

    @Option(
        names = "--unique-fields",
        paramLabel = "NAME[,NAME…]",
        description =
            "The params, or fields of a job's payload, whose values form the uniqueness key.")
    private @Nullable String uniqueFields;

    @Option(
        names = "--unique-scope",
        paramLabel = "SCOPE",
        description =
            "How long the key is held: queued (until the work starts) or unfinished (until it has"
                + " ended). Default: unfinished")
    private @Nullable String uniqueScope;

    @Option(
        names = "--unique-period",
        paramLabel = "TIME",
        description = "Holds the key for this time after the submission instead.")
    private @Nullable String uniquePeriod;

    // Not --timeout, which limits the wait of submit --wait.
    @Option(
        names = "--run-timeout",
        paramLabel = "TIME",
        description =
            "The maximum duration of an attempt. When it is over, the attempt is stopped and has"
                + " failed.")
    private @Nullable String timeout;

    @Option(
        names = "--wait-timeout",
        paramLabel = "TIME",
        description =
            "The maximum time to wait for the start of an attempt. When it is over, the work has"
                + " failed.")
    private @Nullable String waitTimeout;

    @Option(
        names = "--total-timeout",
        paramLabel = "TIME",
        description =
            "The maximum time for all attempts together. When it is over, the work has failed.")
    private @Nullable String totalTimeout;

    @Override
    void addTo(Map<String, String> fields) {
      put(fields, Field.TIMEOUT, timeout);
      put(fields, Field.WAIT_TIMEOUT, waitTimeout);
      put(fields, Field.TOTAL_TIMEOUT, totalTimeout);
      put(fields, Field.UNIQUE, unique);
      put(fields, Field.UNIQUE_FIELDS, uniqueFields);
      put(fields, Field.UNIQUE_SCOPE, uniqueScope);
      put(fields, Field.UNIQUE_PERIOD, uniquePeriod);
    }
  }

  /** The settings of tasks, which also have keys and priorities. */
  public static class OfTasks extends OfJobs {
    @Option(
        names = "--key",
        paramLabel = "KEY",
        description =
            "The key of the task, for example the name of a customer. The keys of a queue take"
                + " turns.")
    private @Nullable String key;

    @Option(
        names = "--key-field",
        paramLabel = "NAME",
        description = "The param whose value is the key of a task.")
    private @Nullable String keyField;

    @Option(
        names = "--priority",
        paramLabel = "N",
        description =
            "The priority, from 0 to 9. Each level counts as much as a minute of waiting, or as the"
                + " --ageing of the queue. Default: 0")
    private @Nullable String priority;

    @Override
    void addTo(Map<String, String> fields) {
      super.addTo(fields);
      put(fields, Field.KEY, key);
      put(fields, Field.KEY_FIELD, keyField);
      put(fields, Field.PRIORITY, priority);
    }
  }

  /**
   * The settings of queues: those of their tasks, the limits under which they start, and how long
   * finished ones stay.
   */
  public static final class OfQueues extends OfTasks {
    @Option(
        names = "--starts",
        paramLabel = "N/TIME",
        description =
            "The maximum rate of starts. With 100/1m, up to 100 tasks start at once, and then 100 a"
                + " minute, evenly.")
    private @Nullable String starts;

    @Option(
        names = "--key-running",
        paramLabel = "N",
        description = "The maximum number of running tasks with the same key.")
    private @Nullable String keyRunning;

    @Option(
        names = "--key-starts",
        paramLabel = "N/TIME",
        description =
            "The maximum rate of starts of tasks with the same key, in the form of --starts.")
    private @Nullable String keyStarts;

    @Option(
        names = "--ageing",
        paramLabel = "TIME",
        description = "How much waiting time one level of priority is worth. Default: 1m")
    private @Nullable String ageing;

    @Option(
        names = "--weights",
        paramLabel = "KEY=N[,KEY=N…]",
        description = "How many tasks of a key start in each of its turns. Default: 1")
    private @Nullable String weights;

    @Option(
        names = "--limits",
        paramLabel = "NAME[,NAME…]",
        description = "Shared limits that also apply; see 'millrace limits'.")
    private @Nullable String limits;

    @Option(
        names = "--keep-finished",
        paramLabel = "TIME",
        description =
            "How long finished tasks stay in the store before they move to the archive. Default:"
                + " queues.keep-finished of the server")
    private @Nullable String keepFinished;

    @Option(
        names = "--keep-count",
        paramLabel = "N",
        description =
            "How many finished tasks stay in the store. Default: queues.keep-count of the server")
    private @Nullable String keepCount;

    @Override
    void addTo(Map<String, String> fields) {
      super.addTo(fields);
      put(fields, Field.KEEP_FINISHED, keepFinished);
      put(fields, Field.KEEP_COUNT, keepCount);
      put(fields, Field.STARTS, starts);
      put(fields, Field.KEY_RUNNING, keyRunning);
      put(fields, Field.KEY_STARTS, keyStarts);
      put(fields, Field.AGEING, ageing);
      put(fields, Field.WEIGHTS, weights);
      put(fields, Field.LIMITS, limits);
    }
  }
}
