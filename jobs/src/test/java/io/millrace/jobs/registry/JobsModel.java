package io.millrace.jobs.registry;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.jobs.Assignment.JobClaim;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobRegistry.JobFilter;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.Report;
import io.millrace.jobs.Submission;
import io.millrace.jobs.WorkerId;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.TaskStore.GroupSummary;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What a registry has to hold, kept in the plainest way. */
final class JobsModel {
  static final int MAX_FAILURES = 2;

  /** A job as the model knows it. */
  static final class Known {
    final Submission order;
    final long batch;
    JobStatus status = JobStatus.PENDING;
    int failures;
    int history;
    boolean hasResult;
    @Nullable WorkerId worker;
    @Nullable WorkerId lastFailedOn;
    @Nullable JobClaim claim;
    StoredJob.@Nullable Last last;

    Known(Job job) {
      order = job.order();
      batch = job.batch();
    }

    String group() {
      return lastFailedOn == null
          ? Groups.waiting(order.type(), order.priority())
          : Groups.failed(order.type(), lastFailedOn);
    }

    void end(JobStatus next) {
      status = next;
      claim = null;
    }
  }

  final Map<JobId, Known> jobs = new LinkedHashMap<>();
  final Map<Long, Integer> batchSizes = new TreeMap<>();

  void submitted(Job job) {
    if (jobs.putIfAbsent(job.id(), new Known(job)) == null) {
      batchSizes.merge(job.batch(), 1, Integer::sum);
    }
  }

  boolean isTaken(@Nullable String key) {
    return key != null && jobs.values().stream().anyMatch(job -> key.equals(job.order.key()));
  }

  /** A job is in the hands of a worker: it may have been given to it, that is checked. */
  void assigned(Job job) {
    Known known = Objects.requireNonNull(jobs.get(job.id()));
    assertThat(known.status).isEqualTo(JobStatus.PENDING);
    assertThat(job.hand().worker()).isNotNull().isNotEqualTo(known.lastFailedOn);
    known.status = JobStatus.RUNNING;
    known.worker = job.hand().worker();
    known.claim = job.hand().claim();
  }

  /** Whether a report has to be accepted, which it is then. */
  boolean settle(Report report) {
    Known known = jobs.get(report.assignment().job().id());
    if (known == null) {
      return false;
    }
    StoredJob.Last last =
        new StoredJob.Last(report.assignment().claim().token(), StoredJob.Kind.of(report));
    if (!report.assignment().claim().equals(known.claim)) {
      return last.equals(known.last);
    }
    known.last = last;
    switch (report) {
      case Report.Completed _ -> {
        known.hasResult = true;
        known.end(JobStatus.DONE);
      }
      case Report.Failed _ -> {
        known.failures++;
        known.history++;
        known.lastFailedOn = known.worker;
        known.end(known.failures >= MAX_FAILURES ? JobStatus.FAILED : JobStatus.PENDING);
      }
      case Report.Returned _ -> known.end(JobStatus.PENDING);
    }
    return true;
  }

  int returnAll() {
    int returned = 0;
    for (Known known : jobs.values()) {
      if (known.status == JobStatus.RUNNING) {
        known.end(JobStatus.PENDING);
        returned++;
      }
    }
    return returned;
  }

  /** How many jobs of the type these workers can take. */
  long assignable(String type, List<WorkerId> workers) {
    List<Known> waiting =
        jobs.values().stream()
            .filter(job -> job.order.type().equals(type) && job.status == JobStatus.PENDING)
            .toList();
    long fresh = waiting.stream().filter(job -> job.lastFailedOn == null).count();
    long given = Math.min(fresh, workers.size());
    Map<WorkerId, Long> ofWorker = new HashMap<>();
    waiting.stream()
        .filter(job -> job.lastFailedOn != null)
        .forEach(job -> ofWorker.merge(job.lastFailedOn, 1L, Long::sum));
    // With one worker asking at a time the rest is plain.
    WorkerId only = workers.getFirst();
    long others =
        ofWorker.values().stream().mapToLong(Long::longValue).sum()
            - ofWorker.getOrDefault(only, 0L);
    return given + Math.min(others, workers.size() - given);
  }

  /** Compares everything that is stored. */
  void check(JobRegistry registry, TaskStore store) {
    List<Job> stored = registry.list(JobFilter.ALL, null, Integer.MAX_VALUE);
    assertThat(stored).extracting(Job::id).containsExactlyInAnyOrderElementsOf(jobs.keySet());
    Map<String, Long> groups = new TreeMap<>();
    int keys = 0;
    int results = 0;
    int failures = 0;
    for (Job job : stored) {
      Known known = Objects.requireNonNull(jobs.get(job.id()));
      // What a commit was said to have stored is what can be read.
      assertThat(registry.find(job.id().toString())).contains(job);
      assertThat(job.status()).isEqualTo(known.status);
      assertThat(job.failures()).isEqualTo(known.failures);
      assertThat(job.hand().claim()).isEqualTo(known.claim);
      assertThat(job.content().result() != null).isEqualTo(known.hasResult);
      assertThat(job.place().task() != 0).isEqualTo(!job.status().isEnd());
      if (!job.status().isEnd()) {
        groups.merge(known.group(), 1L, Long::sum);
      }
      keys += job.order().key() == null ? 0 : 1;
      results += known.hasResult ? 1 : 0;
      failures += known.history;
    }
    Map<String, Long> kernel = new TreeMap<>();
    for (GroupSummary group : store.groups().value()) {
      kernel.put(group.name(), group.waiting() + group.owned());
    }
    assertThat(kernel).isEqualTo(groups);
    assertThat(count(store, Keys.MEMBERS)).isEqualTo(stored.size());
    assertThat(count(store, Keys.PAYLOADS)).isEqualTo(stored.size());
    assertThat(count(store, Keys.NAMES)).isEqualTo(keys);
    assertThat(count(store, Keys.RESULTS)).isEqualTo(results);
    assertThat(count(store, Keys.FAILURES)).isEqualTo(failures);
    registry
        .batches(0, Integer.MAX_VALUE)
        .forEach(batch -> assertThat(batchSizes).containsEntry(batch.id(), batch.size()));
  }

  private static int count(TaskStore store, String collection) {
    return store.documents(DocumentQuery.prefix(collection, "")).value().size();
  }
}
