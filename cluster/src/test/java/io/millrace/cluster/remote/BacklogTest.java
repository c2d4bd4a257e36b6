package io.millrace.cluster.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.member.Member;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Items that the leader gives out and lambdas commit. */
final class BacklogTest {
  private final RemoteCluster cluster;

  BacklogTest(@TempDir Path folder) {
    cluster = new RemoteCluster(folder);
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  private List<String> documents() {
    return cluster.documents().list("backlog/").stream().map(VersionedDocument::json).toList();
  }

  @Test
  void items_are_given_out_once_until_they_are_enqueued_again_and_never_after_they_are_committed()
      throws Exception {
    cluster.start(1);
    Backlog files = cluster.executor().backlog("files");
    files.add(List.of("a", "b", "a"));
    assertThat(files.take(5)).containsExactly("a", "b");
    files.add(List.of("a", "b"));
    assertThat(files.take(5, Duration.ofMillis(1))).isEmpty();
    files.commit("b");
    files.reEnqueue("a");
    files.reEnqueue("b");
    files.reEnqueue("unknown");
    assertThat(files.take(5)).containsExactly("a");
    files.commit("a");
    files.commit("a");
    assertThat(files.take(5, Duration.ofMillis(1))).isEmpty();
    assertThat(files.outstanding()).isZero();
    assertThat(documents())
        .containsExactly(
            "{\"item\":\"a\",\"state\":\"done\",\"attempts\":2,\"fence\":1}",
            "{\"item\":\"b\",\"state\":\"done\",\"attempts\":1,\"fence\":1}");
  }

  @Test
  void take_waits_for_an_item() throws Exception {
    cluster.start(1);
    Backlog files = cluster.executor().backlog("files");
    Thread adds = Thread.ofVirtual().start(() -> files.add(List.of("late")));
    assertThat(files.take(1)).containsExactly("late");
    assertThat(adds.join(Duration.ofSeconds(30))).isTrue();
  }

  @Test
  void a_lambda_commits_by_name_or_by_the_backlog_that_it_captures() throws Exception {
    cluster.start(1);
    RemoteExecutor executor = cluster.executor();
    Backlog files = executor.backlog("files");
    String longer = "é".repeat(300);
    files.add(List.of("a", longer));
    assertThat(files.take(2)).containsExactlyInAnyOrder("a", longer);
    ExecutionFuture<Boolean> future =
        executor
            .idleMembers()
            .getFirst()
            .submit(() -> {
              Backlog.named("files").commit("a");
              files.commit(longer);
              return true;
            });
    assertThat(future.await()).isTrue();
    assertThat(files.outstanding()).isZero();
    assertThatThrownBy(() -> Backlog.named("files").take(1))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void items_that_an_earlier_leader_gave_out_wait_again_when_none_of_its_lambdas_is_left()
      throws Exception {
    Member first = cluster.start(1);
    RemoteExecutor executor = cluster.executor();
    Member other = cluster.start(1);
    executor.backlog("files").add(List.of("a", "b"));
    assertThat(executor.backlog("files").take(2)).containsExactly("a", "b");
    RUNS.acquire();
    ExecutionFuture<Boolean> lambda =
        RemoteCluster.find(executor, other.token())
            .submit(() -> {
              BEGUN.countDown();
              RUNS.acquire();
              Backlog.named("files").commit("a");
              return true;
            });
    BEGUN.await();
    assertThat(lambda.state().isEnd()).isFalse();
    cluster.stop(first);
    Backlog files = cluster.executor().backlog("files");
    assertThat(files.take(2, Duration.ofSeconds(1))).isEmpty();
    RUNS.release();
    assertThat(files.take(2)).containsExactly("b");
    assertThat(files.outstanding()).isOne();
  }

  private static final CountDownLatch BEGUN = new CountDownLatch(1);
  private static final Semaphore RUNS = new Semaphore(1);

  @Test
  void invalid_names_and_items_are_refused() throws Exception {
    cluster.start(1);
    RemoteExecutor executor = cluster.executor();
    assertThatThrownBy(() -> executor.backlog("no good"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("not 'no good'");
    assertThatThrownBy(() -> executor.backlog("files").add(List.of("a", "")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("1 to 10000 characters");
    assertThat(documents()).isEmpty();
  }
}
