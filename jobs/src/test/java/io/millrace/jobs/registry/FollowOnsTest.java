package io.millrace.jobs.registry;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.blobs.FaultyBlobs;
import io.millrace.blobs.FileBlobStore;
import io.millrace.blobs.Value;
import io.millrace.jobs.Assignment;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobRegistry.JobFilter;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.Report;
import io.millrace.jobs.Report.Settled;
import io.millrace.store.testkit.contract.EmbeddedFixture;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Results that become jobs later, since they have to be copied or something is wrong with them. */
class FollowOnsTest {
  private static final String LARGE = "x".repeat(Value.INLINE_LIMIT + 1);

  private final EmbeddedFixture store = new EmbeddedFixture(1);
  private final FaultyBlobs blobs;
  private final JobsFixture world;

  FollowOnsTest(@TempDir Path folder) {
    blobs = new FaultyBlobs(FileBlobStore.open(folder));
    world = new JobsFixture(store, blobs, JobsFixture.CHAIN, Jobs.Options.DEFAULTS);
  }

  @AfterEach
  void close() {
    store.close();
  }

  private Assignment assigned() {
    world.submit("first");
    return world.assign("first", JobsFixture.A);
  }

  private Job childOf(Job parent) {
    return world.job(Objects.requireNonNull(world.job(parent.id()).line().child()));
  }

  /** After how many milliseconds the next step is due. */
  private long waitAfterStep(FollowOns followOns) {
    return Duration.between(world.now(), followOns.step(world.now())).toMillis();
  }

  @Test
  void a_large_result_becomes_the_next_job_in_its_commit_without_a_copy() {
    Assignment attempt = assigned();
    Job parent = world.accepted(world.completed(attempt, LARGE));
    Job child = childOf(parent);
    assertThat(parent.line().followOn()).isNull();
    assertThat(JobsFixture.text(world.registry().payload(child))).isEqualTo(LARGE);
    world.registry().delete(parent.key());
    assertThat(JobsFixture.text(world.registry().payload(child))).isEqualTo(LARGE);
    world.registry().delete(child.key());
    assertThat(blobs.list("")).isEmpty();
  }

  @Test
  void a_result_that_cannot_be_read_is_stored_and_delays_no_other() {
    Assignment poison = assigned();
    Assignment sound = assigned();
    List<Report> reports =
        List.of(world.completed(poison, LARGE + "poison"), world.completed(sound, LARGE));
    blobs.broken = JobRegistry.resultName(poison)::equals;

    assertThat(world.registry().settle(reports)).allMatch(Settled.Accepted.class::isInstance);

    Job done = world.job(poison.job().id());
    assertThat(done.status()).isEqualTo(JobStatus.DONE);
    assertThat(done.line().child()).isNull();
    assertThat(done.line().followOn())
        .isEqualTo(
            new Job.FollowOn(
                "second", "blob " + JobRegistry.resultName(poison) + " has a bad sector"));
    assertThat(childOf(sound.job()).type()).isEqualTo("second");

    FollowOns followOns = world.jobs().followOns();
    assertThat(waitAfterStep(followOns)).isEqualTo(1_000);
    world.advance(Duration.ofSeconds(1));
    assertThat(waitAfterStep(followOns)).isEqualTo(2_000);
    long version = world.job(done.id()).place().version();
    world.advance(Duration.ofSeconds(1));
    assertThat(waitAfterStep(followOns)).isEqualTo(1_000);
    world.advance(Duration.ofSeconds(1));
    assertThat(waitAfterStep(followOns)).isEqualTo(4_000);
    assertThat(world.job(done.id()).place().version())
        .as("what is wrong is written once")
        .isEqualTo(version);

    blobs.broken = _ -> false;
    world.advance(Duration.ofSeconds(4));
    assertThat(waitAfterStep(followOns)).isEqualTo(60_000);
    assertThat(world.job(done.id()).line().followOn()).isNull();
    assertThat(JobsFixture.text(world.registry().result(world.job(done.id()))))
        .isEqualTo(LARGE + "poison");
    assertThat(JobsFixture.text(world.registry().payload(childOf(done))))
        .isEqualTo(LARGE + "poison");
    assertThat(world.registry().next("second", 10)).hasSize(2);
  }

  @Test
  void a_result_that_is_gone_is_named_at_its_job_and_its_job_can_be_deleted() {
    Assignment attempt = assigned();
    Report report = world.completed(attempt, LARGE);
    assertThat(blobs.delete(JobRegistry.resultName(attempt))).isTrue();
    Job done = world.accepted(report);
    Job.FollowOn followOn = Objects.requireNonNull(done.line().followOn());
    assertThat(followOn.problem()).contains(JobRegistry.resultName(attempt));
    assertThat(waitAfterStep(world.jobs().followOns())).isEqualTo(1_000);
    world.registry().delete(done.key());
    world.advance(Duration.ofSeconds(1));
    assertThat(waitAfterStep(world.jobs().followOns())).isEqualTo(60_000);
    assertThat(world.registry().list(JobFilter.ALL, null, 10)).isEmpty();
  }

  @Test
  void what_cannot_be_linked_is_copied_later_and_after_a_restart_too() {
    blobs.links = false;
    Assignment attempt = assigned();
    Job done = world.accepted(world.completed(attempt, LARGE));
    assertThat(done.line().child()).isNull();
    assertThat(done.line().followOn()).isEqualTo(new Job.FollowOn("second", null));

    world.restart();
    assertThat(waitAfterStep(world.jobs().followOns())).isEqualTo(60_000);

    Job child = childOf(done);
    assertThat(child.line().parent()).isEqualTo(done.id());
    assertThat(child.order().priority()).isEqualTo(done.order().priority());
    assertThat(JobsFixture.text(world.registry().payload(child))).isEqualTo(LARGE);
    assertThat(world.registry().batch(child.batch()).orElseThrow().size()).isEqualTo(1);
    assertThat(blobs.list("")).hasSize(2);
    assertThat(waitAfterStep(world.jobs().followOns())).isEqualTo(60_000);
    assertThat(world.registry().next("second", 10)).hasSize(1);
  }

  @Test
  void a_result_that_is_repeated_is_accepted_while_its_job_is_still_to_be_made() {
    blobs.links = false;
    Assignment attempt = assigned();
    Report report = world.completed(attempt, LARGE);
    Job done = world.accepted(report);
    assertThat(world.accepted(report).id()).isEqualTo(done.id());
    assertThat(waitAfterStep(world.jobs().followOns())).isEqualTo(60_000);
    assertThat(world.accepted(report).line().child()).isEqualTo(childOf(done).id());
  }

  @Test
  void one_that_stops_copies_nothing_and_says_nothing_at_the_job() {
    blobs.links = false;
    Job done = world.accepted(world.completed(assigned(), LARGE));
    world.jobs().followOns().stop();
    world.jobs().followOns().step(world.now());
    assertThat(world.job(done.id()).line().followOn()).isEqualTo(new Job.FollowOn("second", null));
  }

  @Test
  void a_report_that_the_store_never_takes_fails_its_job_and_delays_no_other() {
    Assignment poison = assigned();
    Assignment sound = assigned();
    Failure tooLong =
        new Failure(poison.worker(), 0, "it broke", "\u0001".repeat(Failure.MAX_LOGS));

    List<Settled> settled =
        world
            .registry()
            .settle(List.of(new Report.Failed(poison, tooLong), world.completed(sound, "fine")));

    assertThat(((Settled.Refused) settled.getFirst()).reason()).contains("cannot be stored");
    assertThat(settled.getLast()).isInstanceOf(Settled.Accepted.class);
    assertThat(world.job(poison.job().id()).failures()).isEqualTo(1);
    assertThat(world.registry().failures(poison.job().id()))
        .singleElement()
        .satisfies(failure -> assertThat(failure.info()).contains("cannot be stored"));
    assertThat(world.job(sound.job().id()).status()).isEqualTo(JobStatus.DONE);
  }
}
