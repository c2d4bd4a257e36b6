package io.millrace.jobs.registry;

import static io.millrace.jobs.registry.JobsFixture.A;
import static io.millrace.jobs.registry.JobsFixture.B;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.archive.Archive;
import io.millrace.archive.ArchiveQuery;
import io.millrace.archive.ArchiveRow;
import io.millrace.archive.ArchiveSource;
import io.millrace.archive.ArchiveTable;
import io.millrace.archive.Archiver;
import io.millrace.blobs.Blob;
import io.millrace.database.DatabaseAddress;
import io.millrace.jobs.Assignment;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobRegistry.JobFilter;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.JobTypes;
import io.millrace.jobs.JobTypes.JobType;
import io.millrace.jobs.Priority;
import io.millrace.jobs.Submission;
import io.millrace.jobs.registry.TypeSettings.TypeRetentions;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.testkit.contract.EmbeddedFixture;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.PolicyException;
import io.millrace.work.policy.Retention;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which jobs leave the store for the archive, and that each stays in one of the two. */
class JobRetentionTest {
  private static final String LARGE = "x".repeat(5_000);
  private static final Retention HOUR = new Retention(Duration.ofHours(1), null);

  private static final JobTypes TYPES =
      JobTypes.of(
          List.of(
              new JobType("brief", null, null, Policy.parse("keep_count=2")),
              new JobType("aged", null, null, Policy.parse("keep_finished=10m")),
              new JobType("other", null, null)));

  private final EmbeddedFixture store = new EmbeddedFixture(1);
  private final Path folder;
  private final Archive archive;
  private JobsFixture world;
  private Archiver archiver;

  JobRetentionTest(@TempDir Path folder) {
    this.folder = folder;
    this.archive = Archive.at(DatabaseAddress.file(folder.resolve("archive.db")));
    begin(JobTypes.NONE, HOUR);
  }

  private void begin(JobTypes types, Retention otherwise) {
    world =
        new JobsFixture(
            store,
            folder.resolve("blobs"),
            types,
            new Jobs.Options(3, 3, 5, Duration.ofMinutes(1)));
    archiver = archiver(world.jobs().retention(otherwise));
  }

  private Archiver archiver(ArchiveSource source) {
    return new Archiver(archive, null, List.of(source));
  }

  @AfterEach
  void end() {
    archive.close();
    store.close();
  }

  /** Drives the archiver for two minutes, in which it looks at all jobs more than once. */
  private void archive() {
    Instant end = world.now().plusSeconds(120);
    for (Instant now = world.now(); now.isBefore(end); ) {
      Instant next = archiver.step(now);
      now = next.isAfter(now) ? next : now;
    }
  }

  private Job done(String type, String result) {
    var _ = world.submit(type);
    return world.accepted(world.completed(world.assign(type, A), result));
  }

  private ArchiveRow row(Job job) {
    return archive.find(ArchiveTable.JOBS, job.id().toString()).orElseThrow();
  }

  private Set<String> archived() {
    Set<String> ids = new HashSet<>();
    archive
        .list(ArchiveQuery.newest(ArchiveTable.JOBS, 10_000))
        .forEach(row -> assertThat(ids.add(row.id())).isTrue());
    return ids;
  }

  private List<String> live() {
    return world.registry().list(JobFilter.ALL, null, 10_000).stream()
        .map(job -> job.id().toString())
        .toList();
  }

  @Test
  void a_job_leaves_at_its_age_with_everything_that_belongs_to_it() {
    Submission order = new Submission("", Priority.IMMEDIATE, "scene", "a scene");
    Job job = world.submit(order, "in");
    var _ = world.settle(world.failed(world.assign("", A)));
    Job ended = world.accepted(world.completed(world.assign("", B), "out"));
    world.advance(Duration.ofMinutes(55));
    archive();
    assertThat(live()).containsExactly(job.id().toString());
    assertThat(archived()).isEmpty();

    world.advance(Duration.ofMinutes(6));
    archive();
    assertThat(live()).isEmpty();
    ArchiveRow row = row(job);
    assertThat(row.text("job_key")).isEqualTo("scene");
    assertThat(row.text("status")).isEqualTo("done");
    assertThat(row.text("priority")).isEqualTo("immediate");
    assertThat(row.text("worker")).isEqualTo("b");
    assertThat(row.number("batch")).isEqualTo(1);
    assertThat(row.number("failures")).isEqualTo(1);
    assertThat(row.number("submitted")).isEqualTo(job.times().submitted());
    assertThat(row.finishedMillis()).isEqualTo(ended.times().ended());
    assertThat(row.bytes("payload")).asString(StandardCharsets.UTF_8).isEqualTo("in");
    assertThat(row.bytes("result")).asString(StandardCharsets.UTF_8).isEqualTo("out");
    assertThat(row.text("document")).contains("a scene", "it broke", "failedAttempts");
    // Nothing of it is left, and its key is free again.
    for (String collection :
        List.of(Keys.JOBS, Keys.NAMES, Keys.MEMBERS, Keys.PAYLOADS, Keys.RESULTS, Keys.FAILURES)) {
      assertThat(store.store().documents(DocumentQuery.prefix(collection, "")).value()).isEmpty();
    }
    assertThat(world.submit(order, "again").status().isEnd()).isFalse();
  }

  @Test
  void without_limits_every_job_stays() {
    begin(JobTypes.NONE, Retention.FOREVER);
    done("", "out");
    world.advance(Duration.ofDays(1_000));
    archive();
    assertThat(live()).hasSize(1);
  }

  @Test
  void what_is_set_for_a_type_counts_from_the_next_pass_on() {
    begin(TYPES, Retention.FOREVER);
    Job first = done("other", "out");
    Job second = done("other", "out");
    world.advance(Duration.ofHours(1));
    archive();
    assertThat(archived()).isEmpty();
    TypeRetentions retentions = world.jobs().typeRetentions();
    retentions.put("other", "30m", "");
    assertThat(retentions.all()).containsOnlyKeys("other");
    world.advance(Duration.ofMinutes(5));
    archive();
    assertThat(archived()).containsExactlyInAnyOrder(first.id().toString(), second.id().toString());
    assertThat(retentions.delete("other")).isTrue();
    assertThat(retentions.delete("other")).isFalse();
    Job third = done("other", "out");
    world.advance(Duration.ofHours(1));
    archive();
    assertThat(live()).containsExactly(third.id().toString());
    assertThatThrownBy(() -> retentions.put("other", "soon", ""))
        .isInstanceOf(PolicyException.class);
    assertThatThrownBy(() -> retentions.put("other", "", "")).isInstanceOf(PolicyException.class);
  }

  @Test
  void a_pass_in_which_many_jobs_left_is_followed_by_the_next_one_at_once() {
    begin(TYPES, Retention.FOREVER);
    for (int i = 0; i < 20; i++) {
      done("brief", "out");
      world.advance(Duration.ofSeconds(1));
    }
    Instant now = world.now();
    // The first pass finds out which jobs are beyond the number that stays.
    assertThat(archiver.step(now)).isEqualTo(now.plusSeconds(1));
    now = now.plusSeconds(1);
    assertThat(archiver.step(now)).isEqualTo(now);
    assertThat(live()).hasSize(2);
    assertThat(archiver.step(now)).isEqualTo(now.plusSeconds(1));
  }

  @Test
  void types_have_their_own_limits_and_jobs_that_have_not_ended_stay() {
    begin(TYPES, HOUR);
    List<Job> brief = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      brief.add(done("brief", "out"));
      world.advance(Duration.ofSeconds(1));
    }
    Job aged = done("aged", "out");
    Job other = done("other", "out");
    Job pending = world.submit("aged");
    world.advance(Duration.ofMinutes(11));
    archive();
    assertThat(archived())
        .containsExactlyInAnyOrder(
            brief.get(0).id().toString(),
            brief.get(1).id().toString(),
            brief.get(2).id().toString(),
            aged.id().toString());
    assertThat(live()).contains(other.id().toString(), pending.id().toString()).hasSize(4);
  }

  @Test
  void none_stay_if_the_count_is_zero() {
    begin(JobTypes.NONE, new Retention(null, 0L));
    done("", "out");
    done("", "out");
    archive();
    assertThat(live()).isEmpty();
    assertThat(archived()).hasSize(2);
  }

  @Test
  void large_payloads_and_results_stay_blobs_which_are_not_swept() {
    // The blobs of this test carry the real time.
    world.advance(Duration.between(world.now(), Instant.now()));
    Job job = world.submit(new Submission("", Priority.BATCH, null, null), LARGE);
    Assignment assignment = world.assign("", A);
    var _ = world.accepted(world.completed(assignment, LARGE));
    Job gone = world.submit(new Submission("", Priority.BATCH, null, null), LARGE);
    world.registry().cancel(gone.key());
    world.keep(JobRegistry.resultName(assignment).replace(".result", "9.result"), LARGE);
    world.advance(Duration.ofHours(3));
    archive();
    archive.drop(ArchiveTable.JOBS, List.of(gone.id().toString()));
    world.jobs().sweeper(archive).step(world.now());
    ArchiveRow row = row(job);
    assertThat(row.bytes("payload")).isNull();
    assertThat(row.text("result_blob")).isEqualTo(JobRegistry.resultName(assignment));
    try (Stream<Blob> blobs = world.blobs().list("")) {
      assertThat(blobs.map(Blob::name))
          .containsExactlyInAnyOrder(
              JobRegistry.payloadName(job.id()), JobRegistry.resultName(assignment));
    }
  }

  @Test
  void a_batch_is_removed_once_it_is_full_and_its_jobs_are_gone() {
    for (int i = 0; i < 4; i++) {
      done("", "out");
    }
    world.advance(Duration.ofHours(2));
    archive();
    assertThat(live()).isEmpty();
    assertThat(world.registry().batches(0, 9)).extracting(batch -> batch.id()).containsExactly(2L);
    world.restart();
    Job next = world.submit("");
    assertThat(next.batch()).isEqualTo(2);
  }

  /** A source whose removals are interrupted by somebody else, or by a crash. */
  private record Interrupted(ArchiveSource source, Runnable before, Runnable after)
      implements ArchiveSource {
    @Override
    public ArchiveTable table() {
      return source.table();
    }

    @Override
    public Due due(Instant now, int most) {
      return source.due(now, most);
    }

    @Override
    public Set<String> remove(List<String> ids) {
      before.run();
      Set<String> kept = source.remove(ids);
      after.run();
      return kept;
    }

    @Override
    public Set<String> present(Collection<String> ids) {
      return source.present(ids);
    }
  }

  private static final class CrashException extends RuntimeException {}

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void each_job_is_in_the_store_or_in_the_archive(long seed) {
    Random random = new Random(seed);
    Set<String> all = new HashSet<>();
    for (int round = 0; round < 40; round++) {
      for (int i = 0; i < random.nextInt(8); i++) {
        all.add(world.submit("").id().toString());
      }
      for (int i = 0; i < random.nextInt(8); i++) {
        for (Assignment taken : world.registry().assign("", List.of(A))) {
          var _ =
              random.nextBoolean()
                  ? world.settle(world.failed(taken))
                  : world.settle(world.completed(taken, random.nextBoolean() ? LARGE : "out"));
        }
      }
      world.advance(Duration.ofMinutes(random.nextInt(40)));
      int fate = random.nextInt(4);
      Runnable crash =
          () -> {
            throw new CrashException();
          };
      archiver =
          archiver(
              new Interrupted(
                  world.jobs().retention(HOUR),
                  fate == 0 ? crash : fate == 1 ? () -> retrySome(random) : () -> {},
                  fate == 2 ? crash : () -> {}));
      try {
        archive();
      } catch (CrashException _) {
        if (random.nextBoolean()) {
          world.restart();
        }
      }
    }
    archiver = archiver(world.jobs().retention(HOUR));
    archive();
    Set<String> archived = archived();
    assertThat(archived).isNotEmpty().doesNotContainAnyElementsOf(live());
    archived.addAll(live());
    assertThat(archived).isEqualTo(all);
  }

  private void retrySome(Random random) {
    for (Job job : world.registry().list(JobFilter.ALL, null, 10_000)) {
      if (job.status() == JobStatus.FAILED && random.nextBoolean()) {
        world.registry().retry(job.key());
      }
    }
  }
}
