package io.millrace.wire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.Claim;
import io.millrace.store.Commit;
import io.millrace.store.Document;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.Transaction;
import java.io.ByteArrayOutputStream;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Whatever is written is read back as it was. */
final class RoundTripTest {
  private static void forEachSeed(Consumer<Samples> check) {
    LongStream.range(0, 2_000).forEach(seed -> check.accept(new Samples(seed)));
  }

  private static DataForm form(Samples samples) {
    return samples.coin() ? DataForm.TEXT : DataForm.BASE64;
  }

  @Test
  void a_transaction_comes_back_as_it_was() {
    forEachSeed(samples -> {
      Transaction transaction = samples.transaction("me");
      assertThat(Requests.readTransaction(Requests.write(transaction), "me"))
          .isEqualTo(transaction);
    });
  }

  @Test
  void a_claim_comes_back_as_it_was() {
    forEachSeed(samples -> {
      Claim claim = samples.claim("me");
      assertThat(Requests.readClaim(Requests.write(claim), "me")).isEqualTo(claim);
    });
  }

  @Test
  void references_come_back_as_they_were() {
    forEachSeed(samples -> {
      List<TaskRef> refs = samples.list(samples::ref);
      assertThat(Requests.readRefs(Requests.write(refs))).isEqualTo(refs);
    });
  }

  @Test
  void an_outcome_comes_back_as_it_was() {
    forEachSeed(samples -> {
      Outcome outcome = samples.outcome();
      assertThat(Responses.readOutcome(Responses.write(outcome, form(samples)))).isEqualTo(outcome);
    });
  }

  @Test
  void a_commit_comes_back_as_it_was_from_one_line() {
    forEachSeed(samples -> {
      Commit commit = samples.commit();
      byte[] line = ChangeStream.write(commit, form(samples));
      assertThat(line).doesNotContain('\n', '\r');
      assertThat(ChangeStream.readCommit(line)).isEqualTo(commit);
    });
  }

  @Test
  void tasks_found_and_missing_come_back_as_they_were() {
    forEachSeed(samples -> {
      List<Optional<Task>> tasks =
          samples.list(() -> samples.coin() ? Optional.of(samples.task()) : Optional.<Task>empty());
      ByteArrayOutputStream written = new ByteArrayOutputStream();
      Responses.writeFound(written, tasks, samples.number(), form(samples));
      assertThat(Responses.readFound(written.toByteArray())).isEqualTo(tasks);
    });
  }

  @Test
  void lists_of_tasks_and_documents_come_back_as_they_were() {
    forEachSeed(samples -> {
      List<Task> tasks = samples.list(samples::task);
      ByteArrayOutputStream written = new ByteArrayOutputStream();
      Responses.writeTasks(written, tasks, samples.number(), form(samples));
      assertThat(Responses.readTasks(written.toByteArray())).isEqualTo(tasks);
      List<Document> documents = samples.list(samples::document);
      written.reset();
      Responses.writeDocuments(written, documents, form(samples));
      assertThat(Responses.readDocuments(written.toByteArray())).isEqualTo(documents);
    });
  }

  @Test
  void single_tasks_and_documents_come_back_as_they_were() {
    forEachSeed(samples -> {
      Task task = samples.task();
      assertThat(Responses.readTask(Responses.write(task, samples.number(), form(samples))))
          .isEqualTo(task);
      Document document = samples.document();
      assertThat(Responses.readDocument(Responses.write(document, form(samples))))
          .isEqualTo(document);
    });
  }

  @Test
  void a_quarantined_task_comes_back_as_it_was() {
    forEachSeed(samples -> {
      QuarantinedTask task = QuarantinedTask.of(samples.task(), samples.name());
      assertThat(QuarantinedTask.read(task.write())).isEqualTo(task);
    });
  }

  @Test
  void summaries_come_back_as_they_were() {
    List<GroupSummary> groups =
        List.of(new GroupSummary("a\"b", 1, 2, 3, 4), new GroupSummary("é", 0, 0, 0, 1L << 40));
    assertThat(Responses.readSummaries(Responses.writeSummaries(groups))).isEqualTo(groups);
  }

  @Test
  void a_lost_position_comes_back_with_its_reason() {
    for (PositionLostException.Why why : PositionLostException.Why.values()) {
      PositionLostException lost =
          new PositionLostException(why, new Position(-1, 7), "no longer kept");
      PositionLostException read = ChangeStream.readLost(ChangeStream.write(lost));
      assertThat(read).hasMessage("no longer kept");
      assertThat(read.why()).isEqualTo(why);
      assertThat(read.position()).isEqualTo(lost.position());
    }
  }

  @Test
  void errors_come_back_as_they_were_and_survive_half_characters() {
    assertThat(Responses.readError(Responses.writeError("no task 5"))).isEqualTo("no task 5");
    byte[] errors = Responses.writeErrors("one", Reason.Kind.MALFORMED);
    assertThat(new String(errors, UTF_8))
        .isEqualTo("{\"errors\":[\"one\"],\"refusal\":[{\"kind\":\"bugs\"}]}");
    assertThat(Responses.readError(errors)).isEqualTo("one");
    assertThat(new String(Responses.writeErrors("one", null), UTF_8))
        .isEqualTo("{\"errors\":[\"one\"]}");
    assertThat(Responses.readError("{\"errors\":[\"one\",\"two\"]}".getBytes(UTF_8)))
        .isEqualTo("one; two");
    assertThat(Responses.readError(Responses.writeError("bad: \ud800"))).isEqualTo("bad: ?");
  }
}
