package io.millrace.server.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.millrace.jobs.Assignment;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.JobTypes.JobType;
import io.millrace.jobs.Report;
import io.millrace.jobs.registry.JobCounts;
import io.millrace.jobs.registry.JobCounts.Kind;
import io.millrace.jobs.registry.Jobs;
import io.millrace.jobs.worker.JobObserver;
import io.millrace.jobs.worker.WorkerManager;
import io.millrace.jobs.worker.WorkerView;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.StoreException;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The figures of jobs and workers. Jobs that wait or run are counted at each scrape. Jobs that have
 * ended are counted one by one, for up to a twentieth of the time: if there are very many, the
 * figures are some minutes old. Safe for use by threads.
 */
public final class JobFigures {
  private static final Logger LOG = LoggerFactory.getLogger(JobFigures.class);

  /** The pause after a count, as a multiple of the time that the count took. */
  private static final int REST = 20;

  /** How long a scrape waits for the count. */
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  private final JobCounts census;
  private final EmbeddedTaskStore store;
  private final TypeLabels labels;
  private final GaugeTable delayed;
  private final GaugeTable oldest;
  private volatile @Nullable Map<Kind, Long> unfinished;
  private volatile @Nullable Map<Kind, Long> ended;
  private @Nullable CompletableFuture<Map<Kind, Long>> counting;
  private volatile long restUntilNanos = System.nanoTime();

  private JobFigures(
      JobCounts census, EmbeddedTaskStore store, TypeLabels labels, MeterRegistry registry) {
    this.census = census;
    this.store = store;
    this.labels = labels;
    this.delayed =
        GaugeTable.counts(
            registry, "millrace.jobs.delayed", "Pending jobs that wait for a time to come");
    this.oldest =
        GaugeTable.ages(
            registry,
            "millrace.jobs.oldest",
            "For how long the longest pending job could have been given to a worker; 0 if there is"
                + " none");
  }

  /** Shows the figures for as long as the returned object is held. */
  public static JobFigures show(
      Jobs jobs, WorkerManager workers, EmbeddedTaskStore store, MeterRegistry registry) {
    TypeLabels labels = new TypeLabels(jobs.types().all());
    workers.observeBy(new AttemptFigures(labels, registry));
    JobFigures figures = new JobFigures(jobs.counts(), store, labels, registry);
    for (String type : labels.all()) {
      for (JobStatus status : JobStatus.values()) {
        Gauge.builder("millrace.jobs", figures, it -> it.count(new Kind(type, status)))
            .description("Jobs in the store")
            .tag("type", type)
            .tag("status", status.word())
            .register(registry);
      }
    }
    for (WorkerView.State state :
        List.of(WorkerView.State.UNKNOWN, WorkerView.State.READY, WorkerView.State.BUSY)) {
      Gauge.builder("millrace.workers", workers, it -> it.count(state))
          .description("Workers that are connected and have registered")
          .tag("state", state.word())
          .register(registry);
    }
    FunctionCounter.builder("millrace.jobs.foreign.tasks", jobs, Jobs::foreignTasks)
        .description("Tasks that were removed from groups of jobs, since no job server wrote them")
        .register(registry);
    return figures;
  }

  private double count(Kind kind) {
    Map<Kind, Long> counts = kind.status().isEnd() ? ended : unfinished;
    return counts == null ? Double.NaN : counts.getOrDefault(kind, 0L);
  }

  /** Counts again. If the store has stopped, the last figures stay. */
  public synchronized void refresh() {
    try {
      unfinished = labelled(census.unfinished());
      readPending();
      CompletableFuture<Map<Kind, Long>> count = counting;
      if (count == null && System.nanoTime() - restUntilNanos >= 0) {
        count = new CompletableFuture<>();
        counting = count;
        CompletableFuture<Map<Kind, Long>> begun = count;
        Thread.ofVirtual().name("job-census").start(() -> count(begun));
      }
      if (count != null) {
        ended = labelled(count.get(PATIENCE.toNanos(), TimeUnit.NANOSECONDS));
        counting = null;
      }
    } catch (TimeoutException _) {
      LOG.debug("counting the jobs takes longer");
    } catch (ExecutionException | StoreException e) {
      counting = null;
      LOG.debug("no figures of jobs", e);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  private void readPending() {
    Map<String, JobCounts.Pending> pending = census.pending(store.oldestWaiting());
    long nowMillis = store.status().timeMillis();
    for (String label : labels.all()) {
      delayed.put(0, "type", label);
      oldest.put(0, "type", label);
    }
    pending.forEach((type, each) -> {
      Long since = each.oldestMillis();
      delayed.put(each.delayed(), "type", labels.of(type));
      oldest.put(since == null ? 0 : Math.max(0, nowMillis - since), "type", labels.of(type));
    });
    delayed.show();
    oldest.show();
  }

  private void count(CompletableFuture<Map<Kind, Long>> result) {
    long begun = System.nanoTime();
    try {
      result.complete(census.ended());
    } catch (RuntimeException | Error e) {
      // Errors too: no other count begins before this one is over.
      result.completeExceptionally(e);
    } finally {
      long now = System.nanoTime();
      restUntilNanos = now + REST * (now - begun);
    }
  }

  private Map<Kind, Long> labelled(Map<Kind, Long> counts) {
    Map<Kind, Long> labelled = new HashMap<>();
    counts.forEach((kind, count) ->
        labelled.merge(new Kind(labels.of(kind.type()), kind.status()), count, Long::sum));
    return labelled;
  }

  /**
   * The jobs that workers got and how the attempts ended, by type, since the start of the server.
   */
  private static final class AttemptFigures implements JobObserver {
    private final TypeLabels labels;
    private final Map<String, OfType> types = new HashMap<>();

    AttemptFigures(TypeLabels labels, MeterRegistry registry) {
      this.labels = labels;
      for (String label : labels.all()) {
        types.put(label, OfType.in(registry, label));
      }
    }

    private record OfType(
        Counter dispatched,
        Timer waited,
        Timer ran,
        Counter retries,
        Counter done,
        Counter failed,
        Counter returned,
        Counter refused) {

      static OfType in(MeterRegistry registry, String type) {
        Counter dispatched =
            Counter.builder("millrace.jobs.dispatched")
                .description("Jobs given to workers, each time anew")
                .tag("type", type)
                .register(registry);
        Timer waited =
            Buckets.wait("millrace.jobs.wait")
                .description(
                    "The time from the submission of a job to the start of an attempt, for jobs"
                        + " that have not failed")
                .tag("type", type)
                .register(registry);
        Timer ran =
            Buckets.run("millrace.jobs.run")
                .description("From the start of an attempt at a job to its end")
                .tag("type", type)
                .register(registry);
        Counter retries =
            Counter.builder("millrace.jobs.retries")
                .description("Attempts that failed and after which the job is offered again")
                .tag("type", type)
                .register(registry);
        return new OfType(
            dispatched,
            waited,
            ran,
            retries,
            ended(registry, type, "done"),
            ended(registry, type, "failed"),
            ended(registry, type, "returned"),
            ended(registry, type, "refused"));
      }

      private static Counter ended(MeterRegistry registry, String type, String outcome) {
        return Counter.builder("millrace.jobs.attempts")
            .description(
                "Attempts that ended: done, failed, returned for another worker; and results and"
                    + " failures refused since they came too late")
            .tag("type", type)
            .tag("outcome", outcome)
            .register(registry);
      }
    }

    private OfType of(String type) {
      return Objects.requireNonNull(types.get(labels.of(type)));
    }

    @Override
    public void dispatched(Assignment assignment, long waitedMillis) {
      OfType figures = of(assignment.job().type());
      figures.dispatched().increment();
      if (assignment.job().failures() == 0) {
        figures.waited().record(waitedMillis, TimeUnit.MILLISECONDS);
      }
    }

    @Override
    public void ended(Report report, Job now) {
      OfType figures = of(report.assignment().job().type());
      Counter outcome =
          switch (report) {
            case Report.Completed _ -> figures.done();
            case Report.Failed _ -> figures.failed();
            case Report.Returned _ -> figures.returned();
          };
      outcome.increment();
      if (report instanceof Report.Failed && !now.status().isEnd()) {
        figures.retries().increment();
      }
      Long started = now.times().started();
      if (started != null) {
        Long ended = now.times().ended();
        long end = ended == null ? System.currentTimeMillis() : ended;
        figures.ran().record(Math.max(0, end - started), TimeUnit.MILLISECONDS);
      }
    }

    @Override
    public void refused(String type) {
      of(type).refused().increment();
    }
  }

  /**
   * The labels of job types in figures. To bound the number of series, the first fifty configured
   * types have labels of their own; all others share one.
   */
  private static final class TypeLabels {
    private static final int MAX_TYPES = 50;

    /** The label of all types without one of their own; no type can have this name. */
    private static final String OTHER = SeriesLabels.OTHER;

    private final Set<String> own = new LinkedHashSet<>();

    /** The labels of these types; if there are none, the label of all jobs is empty. */
    TypeLabels(List<JobType> types) {
      types.stream().limit(MAX_TYPES).map(JobType::name).forEach(own::add);
      own.add(types.isEmpty() ? "" : OTHER);
    }

    Set<String> all() {
      return own;
    }

    String of(String type) {
      return own.contains(type) ? type : own.contains(OTHER) ? OTHER : "";
    }
  }
}
