package io.millrace.cluster.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.documents.files.FileDocuments;
import io.millrace.cluster.lock.LeaseLostException;
import io.millrace.cluster.lock.LeaseTerms;
import io.millrace.cluster.member.ClusterWork;
import io.millrace.cluster.member.Member;
import io.millrace.cluster.status.ClusterStatus;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ClusterSemaphoreTest {
  private static final LeaseTerms SHORT = LeaseTerms.of(Duration.ofMillis(600));
  private static final LeaseTerms LONG = LeaseTerms.of(Duration.ofSeconds(3));
  private static final int PERMITS = 3;

  private final VersionedDocuments documents;
  private final List<Member> members = new ArrayList<>();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  ClusterSemaphoreTest(@TempDir Path folder) {
    documents = FileDocuments.open(folder);
  }

  @AfterEach
  void close() {
    threads.shutdownNow();
    threads.close();
    members.forEach(Member::close);
    documents.close();
  }

  private Member member(VersionedDocuments shared, LeaseTerms terms) {
    Member member = Member.start(shared, 1, terms, ClusterWork.none());
    members.add(member);
    return member;
  }

  @Test
  void threads_of_all_members_together_hold_at_most_as_many_permits_as_there_are()
      throws Exception {
    Set<Integer> inside = ConcurrentHashMap.newKeySet();
    CountDownLatch full = new CountDownLatch(PERMITS);
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Member member = member(documents, LONG);
      for (int j = 0; j < 4; j++) {
        all.add(
            threads.submit(() -> {
              for (int k = 0; k < 4; k++) {
                ClusterSemaphore.of("s", PERMITS, member)
                    .guard(permit -> {
                      assertThat(inside.add(permit.number())).isTrue();
                      assertThat(permit.number()).isBetween(1, PERMITS);
                      full.countDown();
                      // As many threads as there are permits hold one at the same time.
                      full.await();
                      permit.check();
                      return inside.remove(permit.number());
                    });
              }
              return "done";
            }));
      }
    }
    for (Future<?> one : all) {
      assertThat(one.get()).isEqualTo("done");
    }
  }

  @Test
  void permits_are_listed_as_locks() throws Exception {
    Member member = member(documents, LONG);
    ClusterSemaphore semaphore = ClusterSemaphore.of("s", 1, member);
    List<ClusterStatus.LockView> locks =
        semaphore.guard(permit -> ClusterStatus.read(documents, 0).locks());
    // Apart from the member's own lock or the leader's lock.
    assertThat(locks)
        .filteredOn(lock -> lock.key().startsWith("semaphore/"))
        .singleElement()
        .satisfies(permit -> {
          assertThat(permit.key()).isEqualTo("semaphore/s/1");
          assertThat(permit.holder()).isEqualTo(member.token());
        });
  }

  @Test
  void a_permit_of_a_dead_member_becomes_free() throws Exception {
    FaultyDocuments cut = new FaultyDocuments(documents);
    // Long enough that it is still held when the other member asks for it, on a slow machine too.
    ClusterSemaphore lost = ClusterSemaphore.of("s", 1, member(cut, LONG));
    ClusterSemaphore next = ClusterSemaphore.of("s", 1, member(documents, SHORT));
    CountDownLatch inside = new CountDownLatch(1);
    Future<String> gone =
        threads.submit(() ->
            lost.guard(permit -> {
              cut.cut(true);
              inside.countDown();
              new CountDownLatch(1).await();
              return "unreachable";
            }));
    inside.await();
    assertThatThrownBy(() -> next.guard(Duration.ofMillis(1), permit -> permit.number()))
        .isInstanceOf(TimeoutException.class)
        .hasMessage("semaphore 's' of 1 could not be acquired within 1 ms");
    int number = next.guard(Permit::number);
    assertThat(number).isEqualTo(1);
    assertThatThrownBy(gone::get).hasCauseInstanceOf(LeaseLostException.class);
  }

  @Test
  void a_deserialized_semaphore_has_the_same_name_and_permits() throws Exception {
    Member member = member(documents, LONG);
    ClusterSemaphore copy =
        SerializedCopies.copy(ClusterSemaphore.class, ClusterSemaphore.of("s", 2, member));
    assertThat(copy).hasToString("semaphore 's' of 2");
    assertThatThrownBy(() -> copy.guard(permit -> null))
        .hasMessage("this thread does not run work of a member");
    assertThatThrownBy(
            () -> {
              ClusterSemaphore.of("s", 2, member).guard(permit -> null);
              ClusterSemaphore.of("s", 3, member).guard(permit -> null);
            })
        .hasMessageContaining("has 2 permits in this cluster, not 3");
  }
}
