package io.millrace.jobs.dispatch;

import io.millrace.blobs.BlobStore;
import io.millrace.blobs.FileBlobStore;
import io.millrace.blobs.Value;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobTypes;
import io.millrace.jobs.Priority;
import io.millrace.jobs.Report;
import io.millrace.jobs.Report.Settled;
import io.millrace.jobs.Submission;
import io.millrace.jobs.registry.FollowOns;
import io.millrace.jobs.registry.Jobs;
import io.millrace.jobs.worker.WorkerManager;
import io.millrace.jobs.worker.WorkerManager.WorkerOptions;
import io.millrace.store.TaskStore;
import io.millrace.store.testkit.contract.EmbeddedFixture;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Predicate;

/** Manager, dispatcher and registry together, stepped by hand in virtual time. */
final class VirtualWorkers implements AutoCloseable {
  static final WorkerOptions OPTIONS =
      new WorkerOptions(
          Duration.ofMillis(500),
          "right"::equals,
          true,
          Duration.ofSeconds(60),
          Duration.ofSeconds(20));

  private final EmbeddedFixture fixture = new EmbeddedFixture(1);
  private final WorkerOptions options;
  private final Jobs jobs;
  private final JobDispatcher dispatcher;
  final BlobStore blobs;
  final WorkerManager workers;

  /** Which reports cannot be stored now. */
  Predicate<Report> postponed = _ -> false;

  private long nanos;
  private boolean settling;

  VirtualWorkers(Path folder) {
    this(FileBlobStore.open(folder), JobTypes.NONE, OPTIONS);
  }

  VirtualWorkers(BlobStore blobs, JobTypes types, WorkerOptions options) {
    this.blobs = blobs;
    this.options = options;
    jobs =
        Jobs.open(
            fixture.store(),
            blobs,
            types,
            Jobs.Options.DEFAULTS,
            new Jobs.Environment(this::now, new Random(1)));
    workers = manager();
    dispatcher =
        new JobDispatcher(postponing(jobs.registry()), workers, Jobs.Options.DEFAULTS.lease());
  }

  TaskStore store() {
    return fixture.store();
  }

  Instant now() {
    return Instant.ofEpochMilli(nanos / 1_000_000);
  }

  /** The same, but for the reports that cannot be stored now. */
  private JobRegistry postponing(JobRegistry registry) {
    InvocationHandler handler =
        (_, method, arguments) ->
            method.getName().equals("settle")
                ? settle(registry, (List<?>) arguments[0])
                : method.invoke(registry, arguments);
    Class<?>[] types = {JobRegistry.class};
    return (JobRegistry) Proxy.newProxyInstance(JobRegistry.class.getClassLoader(), types, handler);
  }

  private List<Settled> settle(JobRegistry registry, List<?> reports) {
    List<Settled> outcomes = new ArrayList<>();
    for (Object each : reports) {
      Report report = (Report) each;
      outcomes.add(
          postponed.test(report)
              ? new Settled.Postponed("not now")
              : registry.settle(List.of(report)).getFirst());
    }
    return outcomes;
  }

  /** Another manager of workers, as after a restart of the server. */
  WorkerManager manager() {
    return new WorkerManager(options, fixture.store(), blobs, this::now, () -> nanos);
  }

  FollowOns followOns() {
    return jobs.followOns();
  }

  JobRegistry registry() {
    return jobs.registry();
  }

  Job submit(String key) {
    Value payload = new Value.Inline(key.getBytes(StandardCharsets.UTF_8));
    return submit(jobs.registry().newId(), key, payload);
  }

  Job submit(JobId id, String key, Value payload) {
    return submit(id, "", key, payload);
  }

  Job submit(JobId id, String type, String key, Value payload) {
    Submission order = new Submission(type, Priority.IMMEDIATE, key, null);
    Job job = jobs.registry().submit(id, order, payload);
    mayHaveMissed();
    return job;
  }

  /** The dispatcher looks for what it was not told. */
  void mayHaveMissed() {
    dispatcher.mayHaveMissed();
  }

  /** Lets everything happen that is due. */
  void settle() {
    for (int i = 0; i < 10; i++) {
      dispatcher.step(Instant.EPOCH.plusNanos(nanos));
    }
  }

  /** The dispatcher's step wakes it again, within itself. */
  void settleOnce() {
    if (!settling) {
      settling = true;
      dispatcher.step(Instant.EPOCH.plusNanos(nanos));
      settling = false;
    }
  }

  void advance(Duration time) {
    fixture.advance(time);
    nanos += time.toNanos();
    settle();
  }

  Job job(String key) {
    return jobs.registry().find(key).orElseThrow();
  }

  @Override
  public void close() {
    jobs.close();
    fixture.close();
  }
}
