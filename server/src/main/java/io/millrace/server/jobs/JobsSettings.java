package io.millrace.server.jobs;

import io.millrace.jobs.JobTypes;
import io.millrace.jobs.JobTypes.JobType;
import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.jobs.registry.Jobs;
import io.millrace.jobs.worker.WorkerManager.WorkerOptions;
import io.millrace.server.config.Configuration.Section;
import io.millrace.server.config.Configuration.Values;
import io.millrace.server.config.ConfigurationException;
import io.millrace.server.config.Key;
import io.millrace.server.config.SectionKeys;
import io.millrace.server.security.Token;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.Policy.Field;
import io.millrace.work.policy.PolicyException;
import io.millrace.work.policy.Retention;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The settings of the job server.
 *
 * @param options the options of the registry
 * @param types the job types; none for a server without types
 * @param replaceTypes whether types other than the stored ones are accepted
 * @param defaults the settings of jobs whose type has none of its own
 * @param workers the settings of workers
 * @param access the secret of clients, and the path
 * @param retention how long jobs stay in the store after their end
 */
public record JobsSettings(
    Jobs.Options options,
    List<JobType> types,
    boolean replaceTypes,
    Policy defaults,
    WorkerSettings workers,
    Access access,
    Retention retention) {
  /** Parts that every client sends as they stand; neither {@code .} nor {@code ..} is one. */
  private static final Pattern PATH =
      Pattern.compile("(?!\\.{1,2}(/|$))[\\w.~-]+(/(?!\\.{1,2}(/|$))[\\w.~-]+)*");

  private static final SectionKeys KEYS = new SectionKeys();
  private static final Key<@Nullable String> WORKER_TOKEN =
      KEYS.secret(
          "worker.token",
          "worker.token-file",
          "The secret in the registration of every worker. Without it any worker is let in.");
  private static final Key<Set<String>> WORKER_TYPES =
      types("worker.types", "the worker token", "workers take jobs");
  private static final Key<@Nullable Path> WORKER_TOKEN_FILE =
      KEYS.optionalPath(
          "worker.token-file",
          "A file with that secret alone, in visible ASCII characters, instead of"
              + " `jobs.worker.token`.");
  private static final Key<Long> KICK_AFTER =
      KEYS.number(
          "worker.kick-after-ms",
          1,
          3_600_000,
          5_000,
          "After how many milliseconds a worker is disconnected that has not registered, or with a"
              + " wrong token.");
  private static final Key<Duration> KEEPALIVE =
      KEYS.duration(
          "worker.keepalive",
          Duration.ofSeconds(1),
          Duration.ofHours(24),
          Duration.ofSeconds(20),
          "How often the server pings a worker. One without a job that gives no sign of life for"
              + " three times as long is disconnected.");
  private static final Key<Boolean> TRACKING =
      KEYS.bool(
          "worker.tracking",
          true,
          "Whether the statistics of workers, and when they were last there, are kept by their own"
              + " ids, over their connections and restarts of the server.");
  private static final Key<Long> MAX_FRAME =
      KEYS.bytes(
          "worker.max-frame-bytes",
          1 << 10,
          1L << 40,
          64 << 20,
          "64MiB",
          "The longest WebSocket frame of a worker. A result in several frames may be longer.");
  private static final Key<Long> BATCH_SIZE =
      KEYS.number(
          "batch-size",
          1,
          1_000_000,
          Jobs.Options.DEFAULTS.batchSize(),
          "How many jobs a new batch takes.");
  private static final Key<Long> MAX_FAILURES =
      KEYS.number(
          "max-failures",
          1,
          1_000,
          Jobs.Options.DEFAULTS.maxFailures(),
          "After how many failures a job is failed for good.");
  private static final Key<Long> MAX_RETURNS =
      KEYS.number(
          "max-returns",
          1,
          1_000_000,
          Jobs.Options.DEFAULTS.maxReturns(),
          "After how many returns a job is failed for good. A return is an attempt that ended with"
              + " its worker: the connection broke, or the result was refused.");
  private static final Key<Duration> STUCK_AFTER =
      KEYS.duration(
          "stuck-after",
          Duration.ofSeconds(1),
          Duration.ofDays(10),
          Duration.ofSeconds(60),
          "After how long without progress or status a running job is asked about, and then taken"
              + " back.");
  private static final Key<Duration> LEASE =
      KEYS.duration(
          "lease",
          Duration.ofSeconds(5),
          Duration.ofHours(24),
          Jobs.Options.DEFAULTS.lease(),
          "How long the claim on a running job lasts that the server does not renew.");
  private static final Key<@Nullable Duration> KEEP_FINISHED =
      KEYS.optionalDuration(
          "keep-finished",
          Duration.ZERO,
          Duration.ofDays(36_500),
          "for ever",
          "How long a job that is done or failed stays in the store before it moves to the archive,"
              + " see [archive.md](archive.md). A type may have its own: `keep_finished` in its"
              + " settings.");
  private static final Key<@Nullable Long> KEEP_COUNT =
      KEYS.optionalNumber(
          "keep-count",
          0,
          Retention.MAX_COUNT,
          "all",
          "How many jobs of each type that are done or failed stay in the store: those that ended"
              + " last. A type may have its own: `keep_count` in its settings.");
  private static final Key<@Nullable String> DESCRIPTION =
      KEYS.optionalText(
          "types.NAME.description",
          "What the jobs of the type NAME are, for people. NAME has 1 to 64 characters out of"
              + " `A-Z a-z 0-9 . _ -`.");
  private static final Key<@Nullable String> BECOMES =
      KEYS.optionalText(
          "types.NAME.result-becomes", "The type of which each result of NAME becomes a new job.");
  private static final Key<Policy> POLICY =
      KEYS.add(
          new Key<>(
              "types.NAME.settings",
              "fields as in attempts=5 retry_delay=10s",
              Policy.NONE,
              "none",
              "The settings of jobs of NAME that have none of their own, about"
                  + " [retries](jobs.md#retries), [timeouts](jobs.md#timeouts),"
                  + " [limits](jobs.md#limits) and [unique keys](jobs.md#unique-jobs), and how long"
                  + " they [stay](archive.md).",
              JobsSettings::ofType));
  private static final Key<Policy> DEFAULTS =
      KEYS.add(
          new Key<>(
              "settings",
              "fields as in attempts=5 retry_delay=10s",
              Policy.NONE,
              "none",
              "The settings of jobs for which neither they themselves nor their type has any, each"
                  + " by itself, about the same but how long jobs stay.",
              JobsSettings::ofAll));
  private static final Key<@Nullable String> TYPE =
      KEYS.bare("types.NAME", "A job type without description and successor.");
  private static final Key<Boolean> REPLACE_TYPES =
      KEYS.bool(
          "replace-types",
          false,
          "Whether a start may change the types that the store remembers. Otherwise a start with"
              + " other types is refused, with the difference.");
  private static final Key<@Nullable String> API_KEY =
      KEYS.secret(
          "api-key",
          "api-key-file",
          "The secret that clients of the job API send in the header `X-API-KEY`. Without it none"
              + " is needed.");
  private static final Key<Set<String>> API_KEY_TYPES =
      types("api-key-types", "the API key", "clients see and change jobs");
  private static final Key<@Nullable Path> API_KEY_FILE =
      KEYS.optionalPath(
          "api-key-file",
          "A file with that secret alone, in visible ASCII characters, instead of `jobs.api-key`.");
  private static final Key<String> PATH_PREFIX =
      KEYS.add(
          new Key<>(
              "path-prefix",
              "a path as in /gridlike or /a/b, of ASCII letters, digits and . _ ~ - between"
                  + " slashes",
              "",
              "none",
              "A path below which the job API is served as well, for use behind a proxy.",
              JobsSettings::prefix));

  /** The section {@code jobs}. */
  public static final Section<JobsSettings> SECTION = KEYS.section("jobs", JobsSettings::of);

  /**
   * The settings of workers.
   *
   * @param token the secret of their registration; null for none
   * @param types prefixes of the job types to which it is limited; empty for no limit
   * @param kickAfter how long a connection may stay unregistered
   * @param tracking whether statistics are kept by their own ids
   * @param maxFrameBytes their longest frame
   * @param stuckAfter when a silent job is asked about
   * @param keepalive how often they are pinged
   */
  public record WorkerSettings(
      @Nullable Token token,
      Set<String> types,
      Duration kickAfter,
      boolean tracking,
      long maxFrameBytes,
      Duration stuckAfter,
      Duration keepalive) {
    /** The same as options of the manager of workers. */
    public WorkerOptions options() {
      return new WorkerOptions(
          kickAfter, given -> token == null || token.is(given), tracking, stuckAfter, keepalive);
    }
  }

  /**
   * The secret of clients, and the path.
   *
   * @param apiKey the secret of the header {@code X-API-KEY}; null for none
   * @param types prefixes of the job types to which it is limited; empty for no limit
   * @param prefix a path without a slash at its end, below which the API is served too; may be
   *     empty
   */
  public record Access(@Nullable Token apiKey, Set<String> types, String prefix) {}

  /**
   * The job types of a shard, or of a store without.
   *
   * @param here whether it has the type of a name
   * @throws io.millrace.jobs.JobsException.InvalidJobException if they contradict each other, or if
   *     results of a type become a type of another shard
   */
  public JobTypes jobTypes(Predicate<String> here) {
    JobTypes _ = JobTypes.of(types);
    List<JobType> own = types.stream().filter(type -> here.test(type.name())).toList();
    for (JobType type : own) {
      String next = type.resultBecomes();
      if (next != null && !here.test(next)) {
        throw new InvalidJobException(
            "the result of job type %s becomes %s, which is in another shard: give both the same first part, as in %s.a and %s.b"
                .formatted(type.name(), next, type.name(), type.name()));
      }
    }
    JobTypes all = JobTypes.of(own).withDefaults(defaults);
    return replaceTypes ? all.replacingStored() : all;
  }

  private static JobsSettings of(Values values) {
    return new JobsSettings(
        new Jobs.Options(
            values.get(BATCH_SIZE).intValue(),
            values.get(MAX_FAILURES).intValue(),
            values.get(MAX_RETURNS).intValue(),
            values.get(LEASE)),
        types(values),
        values.get(REPLACE_TYPES),
        values.get(DEFAULTS),
        new WorkerSettings(
            secret(values, WORKER_TOKEN, WORKER_TOKEN_FILE),
            values.get(WORKER_TYPES),
            Duration.ofMillis(values.get(KICK_AFTER)),
            values.get(TRACKING),
            values.get(MAX_FRAME),
            values.get(STUCK_AFTER),
            values.get(KEEPALIVE)),
        new Access(
            secret(values, API_KEY, API_KEY_FILE),
            values.get(API_KEY_TYPES),
            values.get(PATH_PREFIX)),
        new Retention(values.get(KEEP_FINISHED), values.get(KEEP_COUNT)));
  }

  private static Key<Set<String>> types(String name, String whose, String what) {
    return KEYS.add(
        new Key<>(
            name,
            "prefixes, separated by commas",
            Set.of(),
            "none",
            "Prefixes of the names of job types to which "
                + whose
                + " is limited: with it "
                + what
                + " of these types only. None for no limit.",
            text -> {
              Set<String> prefixes = new TreeSet<>(List.of(text.strip().split("\\s*,\\s*", -1)));
              prefixes.remove("");
              return Set.copyOf(prefixes);
            }));
  }

  /** A secret that is given as text or in a file, or not at all. */
  private static @Nullable Token secret(
      Values values, Key<@Nullable String> asText, Key<@Nullable Path> inFile) {
    String text = values.get(asText);
    Path file = values.get(inFile);
    if (text != null && file != null) {
      throw new ConfigurationException(
          "jobs.%s and jobs.%s are both given; leave one of them out"
              .formatted(asText.name(), inFile.name()));
    }
    return file != null ? Token.read(file) : text == null ? null : Token.of(text);
  }

  /** Has one slash before each of its parts and none at the end; empty for none. */
  private static String prefix(String text) {
    if (text.isEmpty() || text.equals("/")) {
      return "";
    }
    String path = text.startsWith("/") ? text.substring(1) : text;
    path = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    if (!PATH.matcher(path).matches()) {
      throw new IllegalArgumentException("not a path: " + text);
    }
    return "/" + path;
  }

  /** Settings of the jobs of a type. */
  private static Policy ofType(String text) {
    return settings(text, Field::isOfTypes, "");
  }

  /** Settings of all jobs; how long they stay has keys of its own. */
  private static Policy ofAll(String text) {
    return settings(
        text,
        field -> field.isOfTypes() && !field.isOfRetention(),
        "; see jobs.keep-finished and jobs.keep-count");
  }

  private static Policy settings(String text, Predicate<Field> allowed, String hint) {
    Policy policy = text.isEmpty() ? Policy.NONE : Policy.parse(text);
    for (String name : policy.fields().keySet()) {
      if (Field.of(name).filter(allowed).isEmpty()) {
        throw new PolicyException(name, name + " is no setting of jobs here" + hint);
      }
    }
    return policy;
  }

  private static List<JobType> types(Values values) {
    Set<String> names = new LinkedHashSet<>(values.names(TYPE));
    // Keys of a type that were left empty name the type as well.
    names.removeIf(name ->
        name.endsWith(".description")
            || name.endsWith(".result-becomes")
            || name.endsWith(".settings"));
    names.addAll(values.names(DESCRIPTION));
    names.addAll(values.names(POLICY));
    names.addAll(values.names(BECOMES));
    return names.stream()
        .map(name ->
            new JobType(
                name,
                values.get(DESCRIPTION, name),
                values.get(BECOMES, name),
                values.get(POLICY, name)))
        .toList();
  }
}
