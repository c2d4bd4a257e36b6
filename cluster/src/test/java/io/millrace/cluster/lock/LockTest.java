package io.millrace.cluster.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.files.FileDocuments;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One lock and two members whose clocks are a year apart. */
final class LockTest {
  private static final LeaseTerms TERMS = LeaseTerms.of(Duration.ofSeconds(10));
  private static final long LEASE = 10_000;
  private static final long MARGIN = 2_000;
  private static final long YEAR = 31_536_000_000L;
  private static final String KEY = "leader";

  private final CountingDocuments documents;
  private final ManualClock clockA = new ManualClock(1_000_000, 5);
  private final ManualClock clockB = new ManualClock(1_000_000 - YEAR, 77_777);
  private final Acquirer a;
  private final Acquirer b;

  LockTest(@TempDir Path folder) {
    documents = new CountingDocuments(FileDocuments.open(folder));
    a = lock("a", clockA);
    b = lock("b", clockB);
  }

  private Acquirer lock(String token, ManualClock clock) {
    return Acquirer.of(
        KEY, new Locks(documents, token, TERMS, clock), new ObservedLocks(TERMS, clock));
  }

  @AfterEach
  void close() {
    documents.close();
  }

  private void advance(long millis) {
    clockA.advance(millis);
    clockB.advance(millis);
  }

  private String content() {
    return documents.get(KEY).map(VersionedDocument::json).orElse("");
  }

  @Test
  void the_document_of_a_lock_has_the_documented_fields() {
    a.step();
    assertThat(content()).isEqualTo("{\"holder\":\"a\",\"expire\":1010000,\"fence\":1}");
    a.release();
    assertThat(content()).isEqualTo("{\"holder\":\"\",\"expire\":0,\"fence\":1}");
    b.step();
    b.step();
    assertThat(b.lease()).hasValueSatisfying(held -> assertThat(held.fence()).isEqualTo(2));
  }

  @Test
  void a_lock_that_is_not_renewed_is_taken_lease_and_margin_after_it_was_first_seen() {
    a.step();
    advance(3000);
    b.step();
    advance(LEASE + MARGIN - 1);
    b.step();
    assertThat(b.lease()).isEmpty();
    advance(1);
    b.step();
    assertThat(b.lease()).isPresent();
    assertThat(a.lease()).isEmpty();
    a.step();
    assertThat(a.lease()).isEmpty();
  }

  @Test
  void the_holder_stops_when_its_lease_ends_by_its_own_clock() {
    a.step();
    Lease held = a.lease().orElseThrow();
    advance(LEASE - 1);
    assertThat(held.remaining()).isEqualTo(Duration.ofMillis(1));
    held.check();
    advance(1);
    assertThat(held.isHeld()).isFalse();
    assertThatThrownBy(held::check).isInstanceOf(LeaseLostException.class);
    // No member has taken it, but it is lost nevertheless.
    a.step();
    assertThat(held.isHeld()).isFalse();
  }

  @Test
  void a_lock_that_is_renewed_stays_with_its_holder() {
    a.step();
    for (int i = 0; i < 20; i++) {
      b.step();
      advance(LEASE / 3 + 1);
      a.step();
    }
    assertThat(a.lease()).hasValueSatisfying(held -> assertThat(held.fence()).isEqualTo(1));
    assertThat(b.lease()).isEmpty();
  }

  @Test
  void a_lock_is_read_once_for_each_due_renewal_and_more_often_if_the_renewal_is_missing() {
    ManualClock same = new ManualClock(clockA.wallMillis(), 0);
    Acquirer other = lock("c", same);
    a.step();
    documents.takeRead();
    long renewed = LEASE / 3 + 100;
    assertThat(other.step()).isEqualTo(renewed);
    assertThat(documents.takeRead()).containsExactly(KEY);
    same.advance(renewed - 1);
    other.step();
    assertThat(documents.takeRead()).isEmpty();
    same.advance(1);
    assertThat(other.step()).isEqualTo(renewed + 500);
    assertThat(documents.takeRead()).containsExactly(KEY);
    same.advance(LEASE + MARGIN - 10 - renewed);
    assertThat(other.step()).isEqualTo(LEASE + MARGIN);
  }

  @Test
  void fences_grow_even_if_the_lock_document_is_deleted_and_created_again() {
    a.step();
    long before = a.lease().orElseThrow().fence();
    a.release();
    VersionedDocument document = documents.get(KEY).orElseThrow();
    assertThat(documents.delete(KEY, document.version())).isTrue();
    b.step();
    assertThat(b.lease().orElseThrow().fence()).isGreaterThan(before);
  }

  @Test
  void fences_grow_even_if_the_document_of_fences_is_lost() {
    a.step();
    a.release();
    VersionedDocument fences = documents.get(FenceAllocator.KEY).orElseThrow();
    assertThat(documents.delete(FenceAllocator.KEY, fences.version())).isTrue();
    Locks locks = new Locks(documents, "c", TERMS, clockA);
    assertThat(locks.create("another").orElseThrow().fence()).isGreaterThan(1);
  }

  @Test
  void a_block_of_fences_that_is_used_up_is_followed_by_another() {
    Locks locks = new Locks(documents, "a", TERMS, clockA);
    locks.release(locks.create(KEY).orElseThrow());
    Version version = documents.get(KEY).orElseThrow().version();
    documents.put(KEY, version, "{\"holder\":\"\",\"expire\":0,\"fence\":997}");
    for (long fence : new long[] {998, 999, 1001, 1002}) {
      Locks.HeldLock held = locks.take(documents.get(KEY).orElseThrow()).orElseThrow();
      assertThat(held.fence()).isEqualTo(fence);
      assertThat(locks.release(held)).isTrue();
    }
  }

  @Test
  void a_holder_that_takes_its_lock_again_gets_the_next_fence() {
    a.step();
    Lease first = a.lease().orElseThrow();
    a.retake();
    assertThat(first.isHeld()).isFalse();
    assertThat(a.lease()).hasValueSatisfying(held -> assertThat(held.fence()).isEqualTo(2));
  }

  @Test
  void an_error_about_an_invalid_lock_names_its_document() {
    for (String json :
        new String[] {
          "{\"holder\":\"a\",\"expire\":\"soon\"}",
          "{\"holder\":\"a\"}",
          "{\"holder\":\"\",\"expire\":0,\"task\":\"*\",\"state\":\"outstanding\"}",
          "{\"holder\":\"\",\"expire\":0,\"task\":\"YQ==\",\"state\":\"lost\"}"
        }) {
      VersionedDocument document = new VersionedDocument("partition/1-1", Version.NONE, json);
      assertThatThrownBy(() -> LockDocument.read(document))
          .as(json)
          .isInstanceOf(ClusterException.class)
          .hasMessageContaining("document partition/1-1 is no lock");
    }
  }

  @Test
  void lease_terms_are_validated_and_give_the_tolerated_clock_drift() {
    assertThat(LeaseTerms.DEFAULT.drift()).isBetween(0.09, 0.091);
    assertThatThrownBy(() -> LeaseTerms.of(Duration.ofMillis(99)))
        .hasMessageContaining("100 ms to a day");
    assertThatThrownBy(() -> new LeaseTerms(Duration.ofSeconds(1), Duration.ofMillis(-1)))
        .hasMessageContaining("a margin is 0 ms to the 1000 ms");
  }
}
