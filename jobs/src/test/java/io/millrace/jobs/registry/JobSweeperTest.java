package io.millrace.jobs.registry;

import static io.millrace.jobs.registry.JobsFixture.A;
import static io.millrace.jobs.registry.JobsFixture.B;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.archive.Archive;
import io.millrace.blobs.Blob;
import io.millrace.database.DatabaseAddress;
import io.millrace.jobs.Assignment;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobTypes;
import io.millrace.jobs.Priority;
import io.millrace.jobs.Report;
import io.millrace.jobs.Submission;
import io.millrace.store.Bytes;
import io.millrace.store.Owner;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.testkit.contract.EmbeddedFixture;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JobSweeperTest {
  private static final String LARGE = "x".repeat(5_000);

  private final EmbeddedFixture store = new EmbeddedFixture(1);
  private final JobsFixture world;
  private final Archive archive;

  JobSweeperTest(@TempDir Path folder) {
    archive = Archive.at(DatabaseAddress.file(folder.resolve("archive.db")));
    world = new JobsFixture(store, folder, JobTypes.NONE, Jobs.Options.DEFAULTS);
    // The blobs of this test carry the real time.
    world.advance(Duration.between(world.now(), Instant.now()));
  }

  @AfterEach
  void end() {
    archive.close();
    store.close();
  }

  private List<String> blobs() {
    try (Stream<Blob> all = world.blobs().list("")) {
      return all.map(Blob::name).sorted().toList();
    }
  }

  private void sweepLater() {
    world.advance(Duration.ofHours(2));
    assertThat(world.jobs().sweeper(archive).step(world.now())).isAfter(world.now());
  }

  @Test
  void a_payload_whose_submission_was_cut_off_is_deleted_after_an_hour() {
    String orphan = JobRegistry.payloadName(world.registry().newId());
    world.keep(orphan, LARGE);
    Job job = world.submit(new Submission("", Priority.BATCH, null, null), LARGE);
    world.keep("other.file", LARGE);
    world.keep("strange.job", LARGE);
    world.jobs().sweeper(archive).step(world.now());
    assertThat(blobs()).hasSize(4);
    sweepLater();
    assertThat(blobs())
        .containsExactlyInAnyOrder(JobRegistry.payloadName(job.id()), "other.file", "strange.job");
  }

  @Test
  void a_result_stays_that_was_accepted_or_may_still_be_reported() {
    world.submit("");
    Assignment lost = world.assign("", A);
    world.keep(JobRegistry.resultName(lost), LARGE);
    world.accepted(new Report.Returned(lost, null));
    Assignment running = world.assign("", B);
    world.keep(JobRegistry.resultName(running), LARGE);
    sweepLater();
    assertThat(blobs()).containsExactly(JobRegistry.resultName(running));
    world.accepted(world.completed(running, LARGE));
    sweepLater();
    assertThat(blobs()).containsExactly(JobRegistry.resultName(running));
  }

  @Test
  void documents_without_a_job_are_deleted() {
    Job job = world.submit("");
    JobId nobody = world.registry().newId();
    Transaction orphans =
        Transaction.by(Owner.client(1))
            .put(Keys.payload(nobody), DocumentVersion.ABSENT, Bytes.EMPTY)
            .put(Keys.result(nobody), DocumentVersion.ABSENT, Bytes.EMPTY)
            .build();
    store.store().commit(orphans).done();
    sweepLater();
    assertThat(store.store().document(Keys.payload(nobody)).value()).isEmpty();
    assertThat(store.store().document(Keys.result(nobody)).value()).isEmpty();
    assertThat(world.registry().payload(job)).isPresent();
  }
}
