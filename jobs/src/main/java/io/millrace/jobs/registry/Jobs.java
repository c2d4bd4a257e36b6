package io.millrace.jobs.registry;

import io.millrace.archive.Archive;
import io.millrace.archive.ArchiveSource;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.Value;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobChange;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobRegistry.JobFilter;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.JobTypes;
import io.millrace.jobs.JobTypes.JobType;
import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.jobs.Submission;
import io.millrace.jobs.registry.TypeSettings.TypeRetentions;
import io.millrace.store.Bytes;
import io.millrace.store.Commit;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore;
import io.millrace.store.Throttling;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.work.DocumentChanges;
import io.millrace.work.Explanation.Reason;
import io.millrace.work.Subscriber;
import io.millrace.work.Watch;
import io.millrace.work.bulk.BulkTarget;
import io.millrace.work.policy.LimitReasons;
import io.millrace.work.policy.LimitReasons.Holders;
import io.millrace.work.policy.LimitReasons.Running;
import io.millrace.work.policy.LimitReasons.Sharing;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.Retention;
import io.millrace.work.policy.SharedLimits.Usage;
import io.millrace.work.trace.Span;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * The jobs of a store: the entry of this module. Safe for use by any number of threads; there may
 * be several for one store.
 */
public final class Jobs implements AutoCloseable {
  private final JobStore store;
  private final JobTypes types;
  private final TypeSettings settings;
  private final StoreJobRegistry registry;

  private Jobs(JobStore store, JobTypes types, TypeSettings settings, Options options) {
    this.store = store;
    this.types = types;
    this.settings = settings;
    this.registry = new StoreJobRegistry(store, types, settings, options);
  }

  /**
   * The jobs of {@code store}.
   *
   * @param blobs keeps payloads and results that are too large for a commit
   * @param types the configured types, which are stored
   * @throws InvalidJobException when the types contradict what is stored, see {@link JobTypes}
   */
  public static Jobs open(
      TaskStore store, BlobStore blobs, JobTypes types, Options options, Environment environment) {
    JobStore jobs = new JobStore(store, blobs, environment);
    new StoredTypes(jobs).settle(types);
    TypeSettings settings = new TypeSettings(jobs, types);
    settings.settle();
    return new Jobs(jobs, types, settings, options);
  }

  /**
   * The jobs of a store that is only read, such as that of a standby: nothing of it may be called
   * that changes something or depends on the configured types.
   */
  public static Jobs reading(TaskStore store, BlobStore blobs, Environment environment) {
    JobStore jobs = new JobStore(store, blobs, environment);
    TypeSettings settings = new TypeSettings(jobs, JobTypes.NONE);
    return new Jobs(jobs, JobTypes.NONE, settings, Options.DEFAULTS);
  }

  /**
   * The types with which the last server was started that has opened these jobs to change them.
   *
   * @return empty if that is not known, since an earlier version of the server has stored them
   */
  public Optional<List<JobType>> storedTypes() {
    return new StoredTypes(store).all();
  }

  /** The registry. */
  public JobRegistry registry() {
    return registry;
  }

  /**
   * Submits a job for each of these runs of a schedule, in one commit with the note that they were
   * started.
   *
   * @param runs by the GUIDs of the jobs, in order; the GUIDs are new
   * @param submissions the submission of each run, all of one type
   * @param payloads the payload of each job, stored under {@link JobRegistry#payloadName} if it is
   *     stored
   * @param commit commits a transaction to which it may add; null if something changed in between
   * @return whether the jobs were submitted
   * @throws InvalidJobException if the type is unknown
   */
  public boolean submitWith(
      Map<JobId, Job.Scheduled> runs,
      Function<Job.Scheduled, Submission> submissions,
      Function<JobId, Value> payloads,
      Function<Transaction.Builder, Outcome.@Nullable Done> commit) {
    return registry.submitWith(runs, submissions, payloads, commit);
  }

  /** The collection of the documents of jobs; the key of a document is the GUID of its job. */
  public static String collection() {
    return Keys.JOBS;
  }

  /** The type whose jobs wait in the groups with this prefix; empty if no type's jobs do. */
  public static Optional<String> typeOf(String prefix) {
    return prefix.startsWith(Groups.PREFIX) && prefix.endsWith("/")
        ? Optional.of(Groups.type(prefix))
        : Optional.empty();
  }

  /** The configured types. */
  public JobTypes types() {
    return types;
  }

  /** Begins to watch these jobs until they have ended or are deleted; to be closed. */
  public Watch<JobId, Job> watch(Collection<JobId> jobs) {
    return Watch.begin(ends(), jobs);
  }

  /** Jobs that are over when they have ended or are deleted. */
  public Watch.Source<JobId, Job> ends() {
    return new Watch.Source<>() {
      @Override
      public Watch.Changes<JobId, Job> open() {
        return Watch.documents(
            store.store(), Keys.JOBS, JobJson::id, document -> store.known().read(document).job());
      }

      @Override
      public Map<JobId, Job> read(Collection<JobId> ids) {
        Map<JobId, Job> found = new HashMap<>();
        store.entries(ids).forEach((id, stored) -> found.put(id, stored.job()));
        return found;
      }

      @Override
      public boolean isOver(@Nullable Job job) {
        return job == null || job.status().isEnd();
      }
    };
  }

  /**
   * Keeps a stream of all changes of jobs open, on a thread of its own; to be closed.
   *
   * @param name of the thread
   * @param opened called whenever the stream begins anew, so that changes may have been missed
   * @param changed called for each change, in order
   */
  public Subscriber subscribe(String name, Runnable opened, Consumer<JobChange> changed) {
    return Subscriber.start(
        name,
        store.store(),
        interest(null),
        new Subscriber.Listener() {
          @Override
          public void opened() {
            opened.run();
          }

          @Override
          public void committed(Commit commit) {
            commit.forEachDocument((key, document) -> changed.accept(read(key, document)));
          }
        });
  }

  /**
   * Begins a stream of changes of jobs, for one thread; to be closed.
   *
   * @param after the position of the last change known already; null begins now
   * @throws PositionLostException when that position cannot be served: look at all jobs again
   */
  public DocumentChanges<JobChange> changes(@Nullable Position after) {
    return new DocumentChanges<>(store.store().subscribe(interest(after)), this::read);
  }

  private static Interest interest(@Nullable Position after) {
    return new Interest(after, Set.of(), Set.of(Keys.JOBS));
  }

  private JobChange read(DocumentKey key, @Nullable Document document) {
    Job present = document == null ? null : store.known().read(document).job();
    return new JobChange(JobJson.id(key.key()), present);
  }

  /**
   * The limits that keep a pending job waiting, which could start otherwise.
   *
   * @param visible whether the caller may see jobs of a type; others are counted, not named
   * @param sharing finds what uses up a shared limit
   */
  public List<Reason> limitReasons(Job job, Predicate<String> visible, Sharing sharing) {
    Throttling limits = settings.limits(job.type());
    if (limits.equals(Throttling.NONE) || job.place().task() == 0) {
      return List.of();
    }
    String key = job.order().policy().key().orElse("");
    String place = job.type().isEmpty() ? "jobs" : "job type " + job.type();
    return new LimitReasons(store.store(), store.self(), "job", place)
        .of(
            limits,
            key,
            TaskRef.origin(job.place().task()),
            new Holders(
                () -> running(type -> type.equals(job.type()), _ -> true, visible),
                () ->
                    running(
                        type -> type.equals(job.type()),
                        other -> other.order().policy().key().orElse("").equals(key),
                        visible),
                sharing));
  }

  /**
   * The running jobs that count against a shared limit.
   *
   * @param visible as for {@link #limitReasons}
   */
  public Running sharing(Usage usage, Predicate<String> visible) {
    return usage.prefixes().isEmpty()
        ? Running.NONE
        : running(type -> usage.prefixes().contains(Groups.prefix(type)), _ -> true, visible);
  }

  private Running running(Predicate<String> types, Predicate<Job> jobs, Predicate<String> visible) {
    JobFilter filter = new JobFilter(null, JobStatus.RUNNING, null, null, null);
    List<Job> running =
        registry.list(filter, null, Integer.MAX_VALUE).stream()
            .filter(job -> types.test(job.type()) && jobs.test(job))
            .toList();
    return new Running(
        running.stream()
            .filter(job -> visible.test(job.type()))
            .map(job -> job.id().toString())
            .toList(),
        running.size());
  }

  /** Begins to record the spans of jobs that belong to a trace; to be closed. */
  public Subscriber spans(Consumer<Span> spans) {
    JobSpans recording = new JobSpans(registry, store::nowMillis, spans);
    return subscribe("job-spans", recording::opened, recording::changed);
  }

  /** What makes jobs of results when that could not be done at once. */
  public FollowOns followOns() {
    return registry.followOns();
  }

  /** What fails jobs that are over time. */
  public JobTimeouts timeouts() {
    return registry.timeouts();
  }

  /** Bulk actions on jobs. */
  public BulkTarget<?> bulk() {
    return registry.bulk();
  }

  /** How many tasks of its groups were removed, since no job server had written them. */
  public long foreignTasks() {
    return store.foreignTasks();
  }

  /** What counts jobs. */
  public JobCounts counts() {
    return new JobCounts(store);
  }

  /** What deletes what belongs to no job, neither stored nor archived. */
  public JobSweeper sweeper(Archive archive) {
    return new JobSweeper(store, archive);
  }

  /**
   * The jobs that have ended and leave the store, by the settings of their types and by {@link
   * #typeRetentions}.
   *
   * @param otherwise for types without settings
   */
  public ArchiveSource retention(Retention otherwise) {
    return new JobRetention(store, types, otherwise);
  }

  /** The settings of types, which can be changed while the server runs. */
  public TypeSettings typeSettings() {
    return settings;
  }

  /** How long jobs of each type stay, as it is set while the server runs. */
  public TypeRetentions typeRetentions() {
    return new TypeRetentions(store);
  }

  /** Does nothing yet: the caller closes the store and the blobs. */
  @Override
  public void close() {}

  /**
   * Options of the registry.
   *
   * @param batchSize how many jobs a batch takes, from 1; default 100
   * @param maxFailures after how many failures a job is failed for good, from 1; default 3
   * @param maxReturns after how many returns a job is failed for good, from 1; default 5. A return
   *     is an attempt that ended with its worker instead of with a result or failure
   * @param lease how long a claim lasts unless it is renewed; default 60 seconds
   */
  public record Options(int batchSize, int maxFailures, int maxReturns, Duration lease) {
    /** 100 jobs a batch, 3 failures, 5 returns, 60 seconds. */
    public static final Options DEFAULTS = new Options(100, 3, 5, Duration.ofSeconds(60));
  }

  /**
   * What the registry needs from its environment.
   *
   * @param clock tells the times that jobs carry
   * @param random draws ids; only the registry uses it, under a lock
   */
  public record Environment(InstantSource clock, RandomGenerator random) {}

  /** The stored job types, against which the configuration is checked at a start. */
  private static final class StoredTypes {
    private final JobStore store;

    StoredTypes(JobStore store) {
      this.store = store;
    }

    /**
     * Stores the configured types.
     *
     * @throws InvalidJobException if they contradict what is stored
     */
    void settle(JobTypes configured) {
      store.retry(
          "the configuration of job types",
          () -> {
            Optional<Document> stored = store.document(Keys.TYPES);
            Optional<Document> policies = store.document(Keys.TYPE_POLICIES);
            List<StoredType> known =
                stored.map(document -> read(document.body())).orElse(List.of());
            List<StoredType> now = configured.all().stream().map(StoredType::of).toList();
            if (!configured.replacesStored()) {
              refuse(differences(known, configured));
            }
            Transaction.Builder transaction = Transaction.by(store.self());
            boolean same = known.equals(now);
            if (!same) {
              transaction.put(Keys.TYPES, version(stored), write(now));
            }
            Bytes set = policies(configured);
            boolean samePolicies =
                policies.map(document -> document.body().equals(set)).orElse(configured.isEmpty());
            if (!samePolicies) {
              transaction.put(Keys.TYPE_POLICIES, version(policies), set);
            }
            boolean done =
                (same && samePolicies) || store.commit(transaction.build()) instanceof Outcome.Done;
            return done ? true : null;
          });
    }

    private static long version(Optional<Document> document) {
      return document.map(Document::version).orElse(DocumentVersion.ABSENT);
    }

    private static Bytes policies(JobTypes configured) {
      ObjectNode json = Json.object();
      configured.all().forEach(type -> json.set(type.name(), TypeSettings.json(type.policy())));
      return Json.write(json);
    }

    /** See {@link Jobs#storedTypes}. */
    Optional<List<JobType>> all() {
      List<StoredType> known =
          store.document(Keys.TYPES).map(document -> read(document.body())).orElse(List.of());
      if (known.isEmpty()) {
        return Optional.of(List.of());
      }
      return store
          .document(Keys.TYPE_POLICIES)
          .map(document -> Json.read(document.body()))
          .filter(policies -> known.stream().allMatch(type -> policies.has(type.name())))
          .map(policies ->
              known.stream()
                  .map(type ->
                      new JobType(
                          type.name(),
                          type.description(),
                          type.resultBecomes(),
                          Policy.read(policies.required(type.name()))))
                  .toList());
    }

    private static void refuse(List<String> differences) {
      if (!differences.isEmpty()) {
        throw new InvalidJobException(
            "the configured job types do not match the stored ones: "
                + String.join("; ", differences));
      }
    }

    private List<String> differences(List<StoredType> stored, JobTypes configured) {
      List<String> differences = new ArrayList<>();
      if (!configured.isEmpty() && store.document(Keys.current("")).isPresent()) {
        differences.add(
            "jobs without a type are stored, and types are configured; a store has one or the"
                + " other, so take another store");
      }
      for (StoredType type : stored) {
        Optional<JobType> now =
            configured.isEmpty() ? Optional.empty() : configured.find(type.name());
        if (now.isEmpty()) {
          differences.add("type " + type.name() + " is stored and not configured");
        } else if (!Objects.equals(type.resultBecomes(), now.get().resultBecomes())) {
          differences.add(
              "the result of type "
                  + type.name()
                  + becomes(" became ", type)
                  + " and is configured to"
                  + becomes(" become ", StoredType.of(now.get())));
        }
      }
      return differences;
    }

    private static String becomes(String verb, StoredType type) {
      return verb + (type.resultBecomes() == null ? "nothing" : type.resultBecomes());
    }

    /** The document of the types. */
    private record Stored(List<StoredType> types) {}

    /** What is stored of a type. */
    private record StoredType(
        String name, @Nullable String description, @Nullable String resultBecomes) {
      static StoredType of(JobType type) {
        return new StoredType(type.name(), type.description(), type.resultBecomes());
      }
    }

    private static Bytes write(List<StoredType> types) {
      return Json.bind(new Stored(types));
    }

    private static List<StoredType> read(Bytes body) {
      return Json.bound(body, Stored.class).types();
    }
  }
}
