package io.millrace.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.client.ClientOptions;
import io.millrace.client.RejectedException;
import io.millrace.client.jobs.JobClient;
import io.millrace.client.jobs.JobClient.SubmittedJob;
import io.millrace.client.jobs.JobFailedException;
import io.millrace.client.jobs.JobKind;
import io.millrace.client.jobs.JobOrder;
import io.millrace.client.jobs.JobWorker;
import io.millrace.client.jobs.JobWorkerOptions;
import io.millrace.server.config.ConfigurationException;
import io.millrace.store.Bytes;
import io.millrace.store.Owner;
import io.millrace.store.Transaction;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class MillraceTest {
  private static final Duration SOON = Duration.ofSeconds(30);
  private static final JobKind<Parcel, Receipt> LETTER =
      JobKind.of("letter", Parcel.class, Receipt.class);

  record Parcel(String to, List<String> lines) {}

  record Receipt(int pages, String key) {}

  private final Path folder;
  private final EmbeddedOptions options;

  MillraceTest(@TempDir Path folder) {
    this.folder = folder;
    options = EmbeddedOptions.in(folder).withKind(LETTER);
  }

  private static Receipt print(Parcel letter, io.millrace.client.jobs.JobContext job) {
    job.progress(50, "printing for " + letter.to());
    return new Receipt(letter.lines().size(), job.key());
  }

  @Test
  void a_job_of_a_kind_is_worked_on_in_the_same_process_without_http() throws Exception {
    try (Millrace millrace = Millrace.start(options)) {
      millrace.work(LETTER, MillraceTest::print);
      SubmittedJob job =
          millrace
              .jobs()
              .submit(
                  LETTER,
                  new Parcel("Anna", List.of("one", "two")),
                  JobOrder.DEFAULT.withKey("to-anna").immediate());
      assertThat(millrace.jobs().await(LETTER, job.id(), SOON))
          .isEqualTo(new Receipt(2, "to-anna"));
      assertThat(job.key()).isEqualTo("to-anna");
      assertThat(millrace.address()).isEmpty();
    }
  }

  @Test
  void the_lines_of_the_readme_do_what_they_say() throws Exception {
    record Letter(String to, int pages) {}
    JobKind<Letter, String> letters = JobKind.of("letter", Letter.class, String.class);
    try (Millrace millrace = Millrace.start(EmbeddedOptions.in(folder).withKind(letters))) {
      millrace.work(letters, (letter, job) -> "printed for " + letter.to());
      String result = millrace.jobs().call(letters, new Letter("Anna", 2), Duration.ofMinutes(1));
      assertThat(result).isEqualTo("printed for Anna");
    }

    List<String> readme = Files.readAllLines(Path.of("../README.md"));
    int begin = readme.indexOf("```java") + 1;
    List<String> shown =
        readme.subList(begin, begin + readme.subList(begin, readme.size()).indexOf("```"));
    assertThat(shown).hasSize(5).last().isEqualTo("}");
    assertThat(
            Files.readAllLines(Path.of("src/test/java/io/millrace/embedded/MillraceTest.java"))
                .stream()
                .map(String::strip)
                .toList())
        .containsSequence(shown.subList(0, shown.size() - 1).stream().map(String::strip).toList());
  }

  @Test
  void what_was_submitted_is_there_after_a_restart() throws Exception {
    String id;
    try (Millrace millrace = Millrace.start(options)) {
      id = millrace.jobs().submit(LETTER, new Parcel("Bob", List.of())).id();
      assertThatThrownBy(() -> millrace.jobs().await(LETTER, id, Duration.ZERO))
          .isInstanceOf(TimeoutException.class)
          .hasMessageContaining(id);
    }
    try (Millrace millrace = Millrace.start(options)) {
      millrace.work(LETTER, MillraceTest::print);
      assertThat(millrace.jobs().await(LETTER, id, SOON).pages()).isZero();
    }
  }

  @Test
  void a_failure_is_retried_and_then_reported_with_its_reason() throws Exception {
    try (Millrace millrace = Millrace.start(options)) {
      CompletableFuture<Integer> attempts = new CompletableFuture<>();
      List<String> seen = new java.util.concurrent.CopyOnWriteArrayList<>();
      millrace.work(
          LETTER,
          (letter, job) -> {
            seen.add(job.id());
            if (seen.size() == 2) {
              attempts.complete(seen.size());
              throw new JobFailedException("no such address", "the log").withCode("address");
            }
            throw new IllegalStateException("no paper");
          });
      SubmittedJob job =
          millrace
              .jobs()
              .submit(
                  LETTER,
                  new Parcel("Carl", List.of()),
                  JobOrder.DEFAULT.with("retry_delay", "1ms").with("retry_except", "address"));
      assertThatThrownBy(() -> millrace.jobs().await(LETTER, job.id(), SOON))
          .isInstanceOfSatisfying(
              JobFailedException.class,
              failure -> {
                assertThat(failure).hasMessage("no such address");
                assertThat(failure.logs()).isEqualTo("the log");
              });
      assertThat(attempts.get()).isEqualTo(2);
      assertThat(seen).hasSize(2);
    }
  }

  @Test
  void a_cancelled_job_interrupts_its_handler() throws Exception {
    try (Millrace millrace = Millrace.start(options)) {
      CountDownLatch begun = new CountDownLatch(1);
      CountDownLatch interrupted = new CountDownLatch(1);
      millrace.work(
          LETTER,
          (_, job) -> {
            begun.countDown();
            try {
              new CountDownLatch(1).await();
            } catch (InterruptedException _) {
              assertThat(job.isCancelled()).isTrue();
              interrupted.countDown();
            }
            return new Receipt(0, "");
          });
      String id = millrace.jobs().submit(LETTER, new Parcel("Dora", List.of())).id();
      assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
      millrace.jobs().cancel(id);
      assertThat(interrupted.await(30, TimeUnit.SECONDS)).isTrue();
      assertThatThrownBy(() -> millrace.jobs().cancel(id))
          .isInstanceOfSatisfying(
              RejectedException.class, e -> assertThat(e.status()).isEqualTo(409));
    }
  }

  @Test
  void clients_and_workers_of_other_processes_share_its_jobs() throws Exception {
    try (Millrace millrace = Millrace.start(options.withHttp(0))) {
      URI address = millrace.address().orElseThrow();
      try (JobClient client = JobClient.open(ClientOptions.at(address));
          JobWorker worker =
              JobWorker.start(JobWorkerOptions.at(address, "press"), LETTER, MillraceTest::print)) {
        SubmittedJob job =
            client.submit(
                LETTER,
                new Parcel("Emil", List.of("x")),
                JobOrder.DEFAULT.withUnique("emil").withDescription("to Emil"));
        assertThat(job.duplicate()).isFalse();
        assertThat(client.await(LETTER, job.id(), SOON).pages()).isEqualTo(1);
        assertThat(millrace.jobs().await(LETTER, job.id(), SOON).key()).isEqualTo(job.key());
        assertThatThrownBy(() -> client.await(LETTER, "none", SOON))
            .isInstanceOf(RejectedException.class)
            .hasMessageContaining("none");
        assertThat(worker.busy()).isZero();
      }
    }
  }

  @Test
  void a_payload_of_another_form_fails_its_job_with_the_reason() throws Exception {
    try (Millrace millrace = Millrace.start(options)) {
      millrace.work(LETTER, MillraceTest::print);
      JobKind<byte[], Receipt> raw = JobKind.of("letter", byte[].class, Receipt.class);
      SubmittedJob job =
          millrace
              .jobs()
              .submit(raw, new byte[] {'['}, JobOrder.DEFAULT.with("retry_except", "payload"));
      assertThatThrownBy(() -> millrace.jobs().await(raw, job.id(), SOON))
          .isInstanceOf(JobFailedException.class)
          .hasMessageStartingWith("the payload is no Parcel");
    }
  }

  @Test
  void wrong_options_are_refused_by_name() {
    assertThatThrownBy(() -> Millrace.start(options.with("store.journals", "strict")))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("did you mean store.journal?");
    assertThatThrownBy(() -> JobKind.of("a letter", Parcel.class))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("\"a letter\"");
    try (Millrace millrace = Millrace.start(options)) {
      JobKind<Parcel, Void> unknown = JobKind.of("parcel", Parcel.class);
      Parcel letter = new Parcel("Fritz", List.of());
      assertThatThrownBy(() -> millrace.jobs().submit(unknown, letter))
          .isInstanceOf(RejectedException.class)
          .hasMessage("there is no job type parcel; known are letter");
      assertThatThrownBy(() -> millrace.work(unknown, (_, _) -> null))
          .hasMessage("there is no job type parcel; known are letter");
      assertThatThrownBy(
              () -> millrace.jobs().submit(LETTER, letter, JobOrder.DEFAULT.with("atempts", "3")))
          .isInstanceOf(RejectedException.class)
          .hasMessageContaining("atempts");
    }
  }

  @Test
  void the_store_below_is_open_to_transactions() {
    try (Millrace millrace = Millrace.start(options)) {
      Transaction added = Transaction.by(Owner.client(7)).add("mine", Bytes.of("x")).build();
      assertThat(millrace.store().commit(added).done().tasks()).hasSize(1);
    }
  }
}
