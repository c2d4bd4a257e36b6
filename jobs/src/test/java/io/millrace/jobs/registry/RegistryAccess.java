package io.millrace.jobs.registry;

import io.millrace.jobs.Assignment;
import io.millrace.jobs.Batch;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobRegistry.JobFilter;
import io.millrace.jobs.Report;
import io.millrace.jobs.Report.Settled;
import io.millrace.jobs.Submission;
import io.millrace.jobs.WorkerId;
import io.millrace.store.TaskStore.DocumentQuery.Order;
import io.millrace.store.testkit.contract.StoreFixture;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Jobs by their registry. */
final class RegistryAccess implements JobsAccess {
  private static final Jobs.Options OPTIONS = new Jobs.Options(3, 3, 5, Duration.ofSeconds(60));

  private final StoreFixture store;
  private final JobsFixture world;
  private final Map<Taken, Assignment> given = new HashMap<>();

  RegistryAccess(StoreFixture store, Path folder) {
    this.store = store;
    this.world = new JobsFixture(store, folder, JobsFixture.CHAIN, OPTIONS);
  }

  private JobRegistry registry() {
    return world.registry();
  }

  @Override
  public Job submit(Submission order, String payload) {
    return world.submit(order, payload);
  }

  @Override
  public Optional<Job> find(String keyOrId) {
    return registry().find(keyOrId);
  }

  @Override
  public List<Job> list(JobFilter filter, @Nullable JobId after, int limit, Order order) {
    return registry().list(filter, after, limit, order);
  }

  private Optional<String> text(JobId job, Function<Job, Optional<InputStream>> content) {
    return find(job.toString()).flatMap(content).map(Optional::of).map(JobsFixture::text);
  }

  @Override
  public Optional<String> payload(JobId job) {
    return text(job, registry()::payload);
  }

  @Override
  public Optional<String> result(JobId job) {
    return text(job, registry()::result);
  }

  @Override
  public List<Failure> failures(JobId job) {
    return registry().failures(job);
  }

  @Override
  public boolean delete(String keyOrId) {
    return registry().delete(keyOrId).isPresent();
  }

  @Override
  public Optional<Job> cancel(String keyOrId) {
    return registry().cancel(keyOrId);
  }

  @Override
  public Optional<Job> retry(String keyOrId) {
    return registry().retry(keyOrId);
  }

  @Override
  public Optional<Batch> batch(long id) {
    return registry().batch(id);
  }

  @Override
  public List<Batch> batches(long after, int limit, Order order) {
    return registry().batches(after, limit, order);
  }

  @Override
  public List<Job> jobsOf(long batch) {
    return registry().jobsOf(registry().batch(batch).orElseThrow());
  }

  @Override
  public Optional<Taken> take(String type, WorkerId worker) {
    return registry().assign(type, List.of(worker)).stream()
        .findFirst()
        .map(assignment -> {
          Taken taken = new Taken(assignment.job().id(), assignment.claim().token());
          given.put(taken, assignment);
          return taken;
        });
  }

  @Override
  public Settled complete(Taken attempt, String result) {
    return world.settle(world.completed(Objects.requireNonNull(given.get(attempt)), result));
  }

  @Override
  public Settled fail(Taken attempt, String info, String logs) {
    Assignment assignment = Objects.requireNonNull(given.get(attempt));
    Failure failure = new Failure(assignment.worker(), world.now().toEpochMilli(), info, logs);
    return world.settle(new Report.Failed(assignment, failure));
  }

  @Override
  public long blobs() {
    try (var all = world.blobs().list("")) {
      return all.count();
    }
  }

  @Override
  public void close() {
    store.close();
  }
}
