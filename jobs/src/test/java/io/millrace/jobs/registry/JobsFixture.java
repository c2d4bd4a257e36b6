package io.millrace.jobs.registry;

import io.millrace.archive.Archive;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.FileBlobStore;
import io.millrace.blobs.Value;
import io.millrace.database.DatabaseAddress;
import io.millrace.jobs.Assignment;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobTypes;
import io.millrace.jobs.JobTypes.JobType;
import io.millrace.jobs.Priority;
import io.millrace.jobs.Report;
import io.millrace.jobs.Report.Settled;
import io.millrace.jobs.Submission;
import io.millrace.jobs.WorkerId;
import io.millrace.store.TaskStore;
import io.millrace.store.testkit.contract.StoreFixture;
import io.millrace.store.testkit.environment.FaultyStore;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.BooleanSupplier;

/** Jobs over a store of a test, with a clock that the test moves together with the store's. */
final class JobsFixture {
  static final JobTypes CHAIN =
      JobTypes.of(
          List.of(new JobType("first", "begins", "second"), new JobType("second", null, null)));
  static final WorkerId A = new WorkerId("a");
  static final WorkerId B = new WorkerId("b");

  private final StoreFixture fixture;
  private final BlobStore blobs;
  private final JobTypes types;
  private final Jobs.Options options;
  private long millis = Instant.parse("2026-01-02T03:04:05Z").toEpochMilli();
  private long seed = 1;
  private Jobs jobs;
  private BooleanSupplier lineBreaks = () -> false;

  JobsFixture(StoreFixture fixture, Path folder, JobTypes types, Jobs.Options options) {
    this(fixture, FileBlobStore.open(folder), types, options);
  }

  JobsFixture(StoreFixture fixture, BlobStore blobs, JobTypes types, Jobs.Options options) {
    this.fixture = fixture;
    this.blobs = blobs;
    this.types = types;
    this.options = options;
    this.jobs = another(1, types);
  }

  /** Another registry over the same store, as of another process. */
  Jobs another(long ownSeed, JobTypes configured) {
    return open(fixture.store(), configured, ownSeed);
  }

  private Jobs open(TaskStore over, JobTypes configured, long ownSeed) {
    Jobs.Environment environment =
        new Jobs.Environment(() -> Instant.ofEpochMilli(millis), new Random(ownSeed));
    return Jobs.open(over, blobs, configured, options, environment);
  }

  /** From now on the line between the registry and the store breaks when this says so. */
  void breakLine(BooleanSupplier when) {
    lineBreaks = when;
    TaskStore faulty = FaultyStore.breaking(fixture::store, () -> lineBreaks.getAsBoolean());
    jobs = open(faulty, types, ++seed);
  }

  void mendLine() {
    lineBreaks = () -> false;
  }

  Jobs jobs() {
    return jobs;
  }

  JobRegistry registry() {
    return jobs.registry();
  }

  TaskStore store() {
    return fixture.store();
  }

  BlobStore blobs() {
    return blobs;
  }

  void advance(Duration time) {
    fixture.advance(time);
    millis += time.toMillis();
  }

  Instant now() {
    return Instant.ofEpochMilli(millis);
  }

  /** Deletes what belongs to no job; nothing is archived. */
  void sweep() {
    try (Archive empty = Archive.at(DatabaseAddress.file(Path.of("target", "no-archive.db")))) {
      jobs.sweeper(empty).step(now());
    }
  }

  void restart() {
    fixture.restart();
    jobs = another(++seed, types);
  }

  Job submit(String type) {
    return submit(new Submission(type, Priority.BATCH, null, null), "payload");
  }

  Job submit(Submission submission, String payload) {
    JobId id = registry().newId();
    return registry().submit(id, submission, keep(JobRegistry.payloadName(id), payload));
  }

  Value keep(String name, String content) {
    byte[] bytes = content.getBytes(StandardCharsets.UTF_8);
    return Value.keep(name, new ByteArrayInputStream(bytes), blobs);
  }

  Assignment assign(String type, WorkerId worker) {
    return registry().assign(type, List.of(worker)).getFirst();
  }

  Report.Completed completed(Assignment assignment, String result) {
    return new Report.Completed(assignment, keep(JobRegistry.resultName(assignment), result));
  }

  Report.Failed failed(Assignment assignment) {
    return new Report.Failed(
        assignment, new Failure(assignment.worker(), millis, "it broke", "line 1"));
  }

  Settled settle(Report report) {
    return registry().settle(List.of(report)).getFirst();
  }

  Job accepted(Report report) {
    return ((Settled.Accepted) settle(report)).job();
  }

  Job job(JobId id) {
    return registry().find(id.toString()).orElseThrow();
  }

  static String text(Optional<InputStream> content) {
    try (InputStream bytes = content.orElseThrow()) {
      return new String(bytes.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
