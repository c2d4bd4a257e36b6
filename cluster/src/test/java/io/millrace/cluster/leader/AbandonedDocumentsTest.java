package io.millrace.cluster.leader;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.documents.files.FileDocuments;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.lock.LeaseTerms;
import io.millrace.cluster.lock.ManualClock;
import io.millrace.cluster.membership.MemberContext;
import io.millrace.cluster.membership.MemberList;
import io.millrace.cluster.membership.Peer;
import io.millrace.cluster.membership.Report;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class AbandonedDocumentsTest {
  private static final LeaseTerms TERMS = LeaseTerms.of(Duration.ofSeconds(10));
  private static final long LEASE = 10_000;
  private static final MemberList ONE = new MemberList(List.of(new Peer("here", 1)));

  private final VersionedDocuments documents;
  private final ManualClock clock = new ManualClock(0, 0);
  private final AbandonedDocuments left;

  AbandonedDocumentsTest(@TempDir Path folder) {
    documents = FileDocuments.open(folder);
    left =
        new AbandonedDocuments(
            new MemberContext(new Peer("leader", 1), documents, TERMS, clock, new Random(7)),
            Report.PREFIX);
  }

  @AfterEach
  void close() {
    documents.close();
  }

  private void report(String token, String text) {
    new Report("work", token, 0, text, new TreeMap<>()).write(documents);
  }

  private List<String> tokens() {
    return Report.list(documents).stream().map(Report::token).toList();
  }

  private void step() {
    left.sweep(
        new Guard() {
          @Override
          public long fence() {
            return 1;
          }

          @Override
          public Duration remaining() {
            return TERMS.lease();
          }
        },
        key -> ONE.find(Report.token(key)).isPresent());
  }

  @Test
  void reports_of_members_that_are_gone_are_removed_and_others_stay() {
    report("here", "works");
    report("gone", "worked");
    report("comes", "begins");
    step();
    clock.advance(LEASE);
    report("comes", "is not in the list yet");
    step();
    assertThat(tokens()).containsExactly("comes", "gone", "here");
    clock.advance(LEASE);
    step();
    assertThat(tokens()).containsExactly("comes", "here");
  }
}
