package io.millrace.cluster.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.files.FileDocuments;
import io.millrace.cluster.lock.CountingDocuments;
import io.millrace.cluster.lock.Lease;
import io.millrace.cluster.lock.LeaseTerms;
import io.millrace.cluster.lock.Locks;
import io.millrace.cluster.lock.ManualClock;
import io.millrace.cluster.lock.ObservedLocks;
import io.millrace.cluster.membership.MemberContext;
import io.millrace.cluster.membership.Peer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three members and a semaphore with two permits, with a manual clock. */
final class FairAcquirerTest {
  private static final LeaseTerms TERMS = LeaseTerms.of(Duration.ofSeconds(10));
  private static final long LEASE = 10_000;
  private static final long MARGIN = 2_000;
  private static final Permits TWO = new Permits("two", 2);

  private final CountingDocuments documents;
  private final ManualClock clock = new ManualClock(1_000_000, 0);
  private final FairAcquirer a;
  private final FairAcquirer b;
  private final FairAcquirer c;

  FairAcquirerTest(@TempDir Path folder) {
    documents = new CountingDocuments(FileDocuments.open(folder));
    a = acquirer("a", TWO);
    b = acquirer("b", TWO);
    c = acquirer("c", TWO);
  }

  private FairAcquirer acquirer(String token, Permits permits) {
    return acquirer(token, permits, Set.of());
  }

  private FairAcquirer acquirer(String token, Permits permits, Set<String> left) {
    MemberContext context =
        new MemberContext(new Peer(token, 1), documents, TERMS, clock, new Random(7));
    return FairAcquirer.of(
            permits,
            context,
            new Locks(documents, token, TERMS, clock),
            new ObservedLocks(TERMS, clock))
        .with(() -> left, () -> {}, true);
  }

  @AfterEach
  void close() {
    documents.close();
  }

  private static String key(FairAcquirer acquirer) {
    return acquirer.lease().map(Lease::key).orElse("none");
  }

  @Test
  void as_many_members_as_there_are_permits_hold_one() {
    a.step();
    b.step();
    c.step();
    assertThat(key(a)).isNotEqualTo(key(b)).startsWith("semaphore/two/");
    assertThat(key(b)).startsWith("semaphore/two/");
    assertThat(key(c)).isEqualTo("none");
    assertThat(documents.get("semaphore/two").map(VersionedDocument::json))
        .contains("{\"permits\":2}");
  }

  @Test
  void a_waiting_member_reads_the_queue_and_lists_permits_once_a_second() {
    a.step();
    b.step();
    long due = c.step();
    documents.takeRead();
    int listings = 0;
    for (int i = 0; i < 20; i++) {
      assertThat(due).isEqualTo(clock.monotonicMillis() + FairAcquirer.POLL_MILLIS);
      clock.advance(FairAcquirer.POLL_MILLIS);
      due = c.step();
      List<String> read = documents.takeRead();
      assertThat(read.getFirst()).isEqualTo("waiting/semaphore/two");
      listings += read.size() - 1;
    }
    assertThat(listings).isEqualTo(2);
  }

  @Test
  void a_released_permit_is_taken_at_the_next_poll_even_if_listings_do_not_show_it_yet() {
    a.step();
    b.step();
    c.step();
    clock.advance(FairAcquirer.POLL_MILLIS);
    c.step();
    documents.freeze("semaphore/two/");
    String freed = key(b);
    b.release();
    clock.advance(FairAcquirer.POLL_MILLIS);
    c.step();
    assertThat(key(c)).isEqualTo(freed);
    assertThat(documents.get("waiting/semaphore/two").map(VersionedDocument::json))
        .hasValueSatisfying(json -> assertThat(json).startsWith("{\"waiting\":[]"));
  }

  @Test
  void a_released_lock_goes_to_the_waiting_member_and_then_back() {
    FairAcquirer one = lock("one");
    FairAcquirer two = lock("two");
    one.step();
    two.step();
    for (int i = 0; i < 5; i++) {
      one.release();
      one.step();
      assertThat(one.lease()).as("turn %d of one", i).isEmpty();
      clock.advance(FairAcquirer.POLL_MILLIS);
      two.step();
      assertThat(two.lease()).as("turn %d of two", i).isPresent();
      two.release();
      two.step();
      assertThat(two.lease()).isEmpty();
      clock.advance(FairAcquirer.POLL_MILLIS);
      one.step();
      assertThat(one.lease()).isPresent();
    }
  }

  @Test
  void if_the_first_of_the_queue_does_not_take_the_lock_the_next_member_takes_it_a_second_later() {
    FairAcquirer holder = lock("holder");
    FairAcquirer dead = lock("dead");
    FairAcquirer next = lock("next");
    holder.step();
    dead.step();
    next.step();
    holder.release();
    holder.step();
    long released = clock.monotonicMillis();
    for (int i = 0; i < 50 && next.lease().isEmpty(); i++) {
      clock.advance(FairAcquirer.POLL_MILLIS);
      next.step();
      holder.step();
    }
    assertThat(clock.monotonicMillis() - released)
        .isBetween(FairAcquirer.TURN_MILLIS, FairAcquirer.TURN_MILLIS + 300);
    assertThat(documents.get("waiting/lock/l").map(VersionedDocument::json))
        .contains("{\"waiting\":[\"holder\"],\"key\":\"\",\"fence\":0}");
  }

  @Test
  void a_member_that_tries_once_does_not_join_the_queue() {
    lock("holder").step();
    lock("looker").with(Set::of, () -> {}, false).step();
    assertThat(documents.get("waiting/lock/l")).isEmpty();
  }

  private FairAcquirer lock(String token) {
    return FairAcquirer.of(
        "lock/l",
        new MemberContext(new Peer(token, 1), documents, TERMS, clock, new Random(7)),
        new Locks(documents, token, TERMS, clock),
        new ObservedLocks(TERMS, clock));
  }

  @Test
  void a_permit_that_is_not_renewed_becomes_free_after_lease_and_margin() {
    a.step();
    b.step();
    c.step();
    long before = a.lease().orElseThrow().fence();
    for (int i = 0; i < 3; i++) {
      clock.advance(LEASE / 3);
      b.step();
      c.step();
    }
    clock.advance(MARGIN - 1);
    b.step();
    c.step();
    assertThat(key(c)).isEqualTo("none");
    // It is read again when lease and margin have passed since it was first seen.
    clock.advance(FairAcquirer.POLL_MILLIS);
    c.step();
    assertThat(c.lease().orElseThrow().fence()).isGreaterThan(before);
    assertThat(key(c)).isNotEqualTo(key(b));
    assertThat(key(a)).isEqualTo("none");
  }

  @Test
  void a_permit_that_is_renewed_stays_with_its_holder() {
    for (int i = 0; i < 20; i++) {
      a.step();
      b.step();
      c.step();
      clock.advance(LEASE / 3 + 1);
    }
    assertThat(key(a)).isNotEqualTo("none").isNotEqualTo(key(b));
    assertThat(key(b)).isNotEqualTo("none");
    assertThat(key(c)).isEqualTo("none");
  }

  @Test
  void
      a_permit_that_another_thread_of_the_member_released_is_taken_even_if_listings_do_not_show_it_yet() {
    a.step();
    b.step();
    String left = key(a);
    documents.freeze("semaphore/two/");
    a.release();
    FairAcquirer other = acquirer("d", TWO).with(Set::of, () -> {}, false);
    other.step();
    assertThat(key(other)).isEqualTo("none");
    FairAcquirer neighbour = acquirer("a", TWO, Set.of(left));
    neighbour.step();
    assertThat(key(neighbour)).isEqualTo(left);
  }

  @Test
  void another_number_of_permits_is_refused() {
    a.step();
    FairAcquirer other = acquirer("d", new Permits("two", 3));
    assertThatThrownBy(other::step)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "semaphore 'two' has 2 permits in this cluster, not 3;"
                + " another number needs another name");
  }

  @Test
  void a_damaged_document_is_read_again_and_gives_no_permit() {
    documents.put("semaphore/two", Version.NONE, "{\"permits\":2}");
    documents.put("semaphore/two/1", Version.NONE, "{\"holder\":\"x\"}");
    assertThat(a.step()).isEqualTo(500);
    assertThat(key(a)).isEqualTo("none");
  }

  @Test
  void invalid_numbers_and_names_of_semaphores_are_refused() {
    assertThatThrownBy(() -> ClusterSemaphore.of("s", 0))
        .hasMessage("a semaphore has 1 to 1000 permits, not 0");
    assertThatThrownBy(() -> ClusterSemaphore.of("s", 1001)).hasMessageContaining("not 1001");
    assertThatThrownBy(() -> ClusterSemaphore.of("a/b", 1))
        .hasMessage("the name of a semaphore has no '/', and 'a/b' has one");
  }
}
