package io.millrace.cluster.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.files.FileDocuments;
import io.millrace.cluster.lock.LeaseTerms;
import io.millrace.cluster.lock.ManualClock;
import io.millrace.cluster.member.ClusterWork;
import io.millrace.cluster.member.Member;
import io.millrace.cluster.membership.MemberContext;
import io.millrace.cluster.membership.Peer;
import io.millrace.cluster.membership.Report;
import io.millrace.cluster.status.ClusterStatus;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class StatusReporterTest {
  private static final LeaseTerms TERMS = LeaseTerms.of(Duration.ofSeconds(3));
  private static final String KEY = "status/feed/a";

  private final FaultyDocuments documents;
  private final ManualClock clock = new ManualClock(5000, 0);
  private final StatusReporter.Writer reporting;

  StatusReporterTest(@TempDir Path folder) {
    documents = new FaultyDocuments(FileDocuments.open(folder));
    MemberContext context =
        new MemberContext(new Peer("a", 1), documents, TERMS, clock, new Random(7));
    reporting = new StatusReporter.Writer(context, "feed");
  }

  @AfterEach
  void close() {
    documents.close();
  }

  private String content() {
    return documents.get(KEY).map(VersionedDocument::json).orElse("");
  }

  @Test
  void the_first_report_is_written_at_once_and_the_newest_later_one_after_a_second() {
    assertThat(reporting.offer("one", Map.of())).isTrue();
    assertThat(reporting.step()).isTrue();
    assertThat(content()).isEqualTo("{\"time\":5000,\"text\":\"one\"}");
    assertThat(reporting.offer("two", Map.of())).isFalse();
    clock.advance(400);
    assertThat(reporting.offer("", Map.of("b", "2", "a", "1"))).isFalse();
    assertThat(reporting.step()).isTrue();
    assertThat(documents.puts(KEY)).isEqualTo(1);
    clock.advance(600);
    assertThat(reporting.step()).isTrue();
    assertThat(content()).isEqualTo("{\"time\":5400,\"values\":{\"a\":\"1\",\"b\":\"2\"}}");
    assertThat(documents.puts(KEY)).isEqualTo(2);
    clock.advance(1000);
    assertThat(reporting.step()).isFalse();
    assertThat(reporting.offer("three", Map.of())).isTrue();
    reporting.step();
    assertThat(content()).isEqualTo("{\"time\":7000,\"text\":\"three\"}");
  }

  @Test
  void a_report_that_cannot_be_written_is_retried() {
    documents.cut(true);
    reporting.offer("late", Map.of());
    for (int i = 0; i < 5; i++) {
      assertThat(reporting.step()).isTrue();
      clock.advance(StatusReporter.Writer.PAUSE_MILLIS);
    }
    documents.cut(false);
    reporting.step();
    assertThat(content()).isEqualTo("{\"time\":5000,\"text\":\"late\"}");
    clock.advance(StatusReporter.Writer.PAUSE_MILLIS);
    assertThat(reporting.step()).isFalse();
  }

  @Test
  void each_member_and_the_cluster_status_show_the_reports_of_all_members() throws Exception {
    try (Member one = Member.start(documents, 1, TERMS, ClusterWork.none());
        Member two = Member.start(documents, 1, TERMS, ClusterWork.none())) {
      StatusReporter.of("feed", one).report("half done");
      StatusReporter.of("feed", two).report(Map.of("files", 3, "lag", Duration.ofSeconds(2)));
      StatusReporter.of("other", two).report("nothing");
      StatusReporter reader = StatusReporter.of("feed", two);
      while (reader.reports().size() < 2 || StatusReporter.of("other", one).reports().isEmpty()) {
        LockSupport.parkNanos(5_000_000);
      }
      assertThat(reader.reports())
          .extracting(Report::token)
          .containsExactlyInAnyOrder(one.token(), two.token());
      assertThat(ClusterStatus.read(documents, 0).json().path("status").toString())
          .contains("\"name\":\"feed\",\"token\":\"" + one.token() + "\",\"time\":")
          .contains("\"text\":\"half done\"")
          .contains("\"values\":{\"files\":\"3\",\"lag\":\"PT2S\"}");
    }
  }

  @Test
  void a_report_that_is_too_long_or_empty_is_refused() throws Exception {
    assertThatThrownBy(() -> reporting.offer("ä".repeat(4097), Map.of()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("a report has at most 8192 bytes, not 8194");
    StatusReporter reporter = StatusReporter.of("feed");
    assertThatThrownBy(() -> reporter.report(Map.of()))
        .hasMessage("a report needs a text or values");
    assertThatThrownBy(() -> SerializedCopies.copy(StatusReporter.class, reporter).report("x"))
        .hasMessage("this thread does not run work of a member");
    assertThatThrownBy(() -> StatusReporter.of("a/b"))
        .hasMessage("the name of a status reporter has no '/', and 'a/b' has one");
  }
}
