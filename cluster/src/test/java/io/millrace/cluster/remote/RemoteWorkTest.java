package io.millrace.cluster.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.cluster.documents.Version;
import io.millrace.cluster.lock.LeaseLostException;
import io.millrace.cluster.member.Member;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Lambdas that members in this process run for their leader. */
final class RemoteWorkTest {
  /** Messages of lambdas and handlers, which share only static fields with the tests. */
  private static final BlockingQueue<String> SAID = new LinkedBlockingQueue<>();

  private static final Semaphore MAY_END = new Semaphore(0);

  private final RemoteCluster cluster;

  RemoteWorkTest(@TempDir Path folder) {
    cluster = new RemoteCluster(folder);
  }

  @BeforeEach
  void forget() {
    SAID.clear();
    MAY_END.drainPermits();
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  private static String said() throws InterruptedException {
    String said = SAID.poll(30, TimeUnit.SECONDS);
    if (said == null) {
      throw new AssertionError("nothing is said");
    }
    return said;
  }

  private static String runUntilToldOrInterrupted() throws InterruptedException {
    SAID.add("begun");
    try {
      MAY_END.acquire();
      return "told";
    } catch (InterruptedException e) {
      SAID.add("interrupted");
      throw e;
    }
  }

  private void requireNothingLeft() {
    Await.until(
        "no partition or result is left",
        () ->
            cluster.documents().list("partition/").isEmpty()
                && cluster.documents().list("result/").isEmpty());
  }

  @Test
  void a_lambda_runs_on_its_member_and_its_result_is_returned() throws Exception {
    cluster.start(2);
    RemoteExecutor executor = cluster.executor();
    Member other = cluster.start(1);
    int number = 20;
    ExecutionFuture<String> future =
        RemoteCluster.find(executor, other.token())
            .submit(() -> Member.current().token() + (number + 1) + Member.guard().isHeld());
    assertThat(future.await()).isEqualTo(other.token() + "21true");
    assertThat(future.state()).isEqualTo(ExecutionState.DONE);
    requireNothingLeft();
  }

  @Test
  void anything_that_a_lambda_throws_is_a_failure_with_class_message_and_trace() throws Exception {
    cluster.start(1);
    RemoteMember member = cluster.executor().idleMembers().getFirst();
    ExecutionFuture<Object> future =
        member.submit(() -> {
          throw new LinkageError("no such thing");
        });
    future.onFailure(failure -> SAID.add(failure.type() + ": " + failure.message()));
    future.onTimeout(() -> SAID.add("timeout"));
    assertThat(said()).isEqualTo("java.lang.LinkageError: no such thing");
    assertThatThrownBy(future::await)
        .isInstanceOfSatisfying(
            RemoteFailureException.class,
            e -> assertThat(e.failure().trace()).contains("RemoteWorkTest"));
    ExecutionFuture<Integer> deep = member.submit(() -> dig(1));
    assertThatThrownBy(deep::await).hasMessageContaining("StackOverflowError");
    requireNothingLeft();
  }

  private static int dig(int depth) {
    return depth < 0 ? 0 : 1 + dig(depth + 1);
  }

  @Test
  void a_result_that_is_too_large_or_not_serializable_is_a_failure() throws Exception {
    cluster.start(1);
    RemoteMember member = cluster.executor().idleMembers().getFirst();
    ExecutionFuture<byte[]> large = member.submit(() -> new byte[2_000_000]);
    assertThatThrownBy(large::await)
        .isInstanceOf(RemoteFailureException.class)
        .hasMessageContaining("524288");
    ExecutionFuture<Object> odd = member.submit(Object::new);
    assertThatThrownBy(odd::await)
        .isInstanceOf(RemoteFailureException.class)
        .hasMessageContaining("java.lang.Object");
  }

  @Test
  void handlers_run_once_even_if_added_after_the_end_and_one_that_throws_does_not_stop_others()
      throws Exception {
    cluster.start(1);
    RemoteMember member = cluster.executor().idleMembers().getFirst();
    ExecutionFuture<String> future = member.submit(() -> "ok");
    future.onDone(value -> {
      throw new IllegalStateException("of this handler");
    });
    future.onDone(value -> SAID.add("first " + value + Member.current().isLeader()));
    assertThat(said()).isEqualTo("first oktrue");
    future.onFailureOrTimeout(() -> SAID.add("never"));
    future.onDone(value -> SAID.add("second " + value));
    assertThat(said()).isEqualTo("second ok");
    assertThat(SAID).isEmpty();
  }

  @Test
  void a_lambda_past_its_time_limit_times_out_and_its_thread_is_interrupted() throws Exception {
    cluster.start(1);
    RemoteMember member = cluster.executor().idleMembers().getFirst();
    ExecutionFuture<?> future =
        member.submit(RemoteWorkTest::runUntilToldOrInterrupted, Duration.ofSeconds(3));
    future.onFailureOrTimeout(() -> SAID.add("over"));
    assertThat(said()).isEqualTo("begun");
    assertThat(List.of(said(), said())).containsExactlyInAnyOrder("interrupted", "over");
    assertThatThrownBy(future::await)
        .isInstanceOf(ExecutionTimeoutException.class)
        .hasMessageContaining("its time limit has passed");
    requireNothingLeft();
  }

  @Test
  void a_lambda_is_cancelled_unless_it_is_done() throws Exception {
    cluster.start(1);
    RemoteMember member = cluster.executor().idleMembers().getFirst();
    ExecutionFuture<?> future = member.submit(RemoteWorkTest::runUntilToldOrInterrupted);
    assertThat(said()).isEqualTo("begun");
    Await.until("it is seen to run", () -> future.state() == ExecutionState.RUNNING);
    assertThat(future.cancel()).isTrue();
    assertThat(said()).isEqualTo("interrupted");
    assertThatThrownBy(future::await).isInstanceOf(CancellationException.class);
    ExecutionFuture<String> done = member.submit(() -> "done");
    assertThat(done.await()).isEqualTo("done");
    assertThat(done.cancel()).isFalse();
  }

  @Test
  void idle_members_are_those_with_fewer_lambdas_than_workers() throws Exception {
    cluster.start(2);
    RemoteExecutor executor = cluster.executor();
    Member other = cluster.start(1);
    RemoteCluster.find(executor, other.token()).submit(RemoteWorkTest::runUntilToldOrInterrupted);
    List<RemoteMember> idle = executor.idleMembers();
    assertThat(idle).hasSize(1);
    idle.getFirst().submit(RemoteWorkTest::runUntilToldOrInterrupted);
    assertThat(executor.idleMembers()).hasSize(1);
    executor.idleMembers().getFirst().submit(RemoteWorkTest::runUntilToldOrInterrupted);
    for (int i = 0; i < 3; i++) {
      assertThat(said()).isEqualTo("begun");
    }
    CountDownLatch idleAgain = new CountDownLatch(1);
    Thread waits =
        Thread.ofVirtual()
            .start(() -> {
              try {
                SAID.add("idle " + executor.idleMembers().size());
              } catch (InterruptedException e) {
                idleAgain.countDown();
              }
            });
    MAY_END.release(1);
    assertThat(said()).isEqualTo("idle 1");
    assertThat(waits.join(Duration.ofSeconds(30))).isTrue();
    MAY_END.release(2);
  }

  @Test
  void a_lambda_that_is_not_begun_within_three_leases_times_out() throws Exception {
    cluster.start(1);
    RemoteMember member = cluster.executor().idleMembers().getFirst();
    member.submit(RemoteWorkTest::runUntilToldOrInterrupted);
    ExecutionFuture<String> second = member.submit(() -> "too late");
    assertThatThrownBy(second::await)
        .isInstanceOf(ExecutionTimeoutException.class)
        .hasMessageContaining("did not start it within three leases");
    MAY_END.release();
  }

  @Test
  void a_member_marked_as_dead_ends_its_work_and_gets_work_again() throws Exception {
    cluster.start(1);
    RemoteExecutor executor = cluster.executor();
    Member other = cluster.start(1);
    RemoteMember member = RemoteCluster.find(executor, other.token());
    ExecutionFuture<?> future = member.submit(RemoteWorkTest::runUntilToldOrInterrupted);
    assertThat(said()).isEqualTo("begun");
    member.markDead();
    assertThat(executor.idleMembers())
        .extracting(RemoteMember::token)
        .doesNotContain(other.token());
    assertThatThrownBy(future::await).hasMessageContaining("is marked as dead");
    assertThat(said()).isEqualTo("interrupted");
    ExecutionFuture<String> again =
        RemoteCluster.find(executor, other.token()).submit(() -> Member.current().token());
    assertThat(again.await()).isEqualTo(other.token());
    assertThat(cluster.documents().list("dead/")).isEmpty();
  }

  @Test
  void the_lambdas_of_a_member_that_leaves_time_out() throws Exception {
    cluster.start(1);
    RemoteExecutor executor = cluster.executor();
    Member other = cluster.start(1);
    ExecutionFuture<?> future =
        RemoteCluster.find(executor, other.token())
            .submit(RemoteWorkTest::runUntilToldOrInterrupted);
    assertThat(said()).isEqualTo("begun");
    cluster.stop(other);
    assertThatThrownBy(future::await).isInstanceOf(ExecutionTimeoutException.class);
    requireNothingLeft();
  }

  @Test
  void
      when_a_leader_leaves_its_futures_are_abandoned_without_handlers_and_the_next_leader_continues()
          throws Exception {
    Member first = cluster.start(1);
    RemoteExecutor executor = cluster.executor();
    Member other = cluster.start(1);
    ExecutionFuture<?> future =
        RemoteCluster.find(executor, other.token())
            .submit(RemoteWorkTest::runUntilToldOrInterrupted);
    future.onFailureOrTimeout(() -> SAID.add("handler"));
    assertThat(said()).isEqualTo("begun");
    cluster.stop(first);
    assertThat(future.state()).isEqualTo(ExecutionState.ABANDONED);
    assertThatThrownBy(future::await).isInstanceOf(LeaseLostException.class);
    assertThatThrownBy(executor::idleMembers).isInstanceOf(LeaseLostException.class);
    RemoteExecutor next = cluster.executor();
    // Its only worker is busy with a lambda of the former leader.
    MAY_END.release();
    ExecutionFuture<String> goesOn = next.idleMembers().getFirst().submit(() -> "on");
    assertThat(goesOn.await()).isEqualTo("on");
    requireNothingLeft();
    assertThat(SAID).isEmpty();
  }

  @Test
  void a_program_that_fails_runs_again_in_a_new_generation() throws Exception {
    cluster.start(
        1,
        executor -> {
          long fence = Member.guard().fence();
          String value = executor.idleMembers().getFirst().submit(() -> "value").await();
          SAID.add(value + fence);
          throw new IllegalStateException("of this program");
        });
    assertThat(said()).isEqualTo("value1");
    assertThat(said()).isEqualTo("value2");
  }

  @Test
  void handlers_of_a_program_that_has_returned_still_run() throws Exception {
    cluster.start(
        1, executor -> executor.idleMembers().getFirst().submit(() -> "after").onDone(SAID::add));
    assertThat(said()).isEqualTo("after");
  }

  @Test
  void copied_or_restored_envelopes_are_not_run_again() throws Exception {
    cluster.start(2);
    ExecutionFuture<String> future =
        cluster
            .executor()
            .idleMembers()
            .getFirst()
            .submit(RemoteWorkTest::runUntilToldOrInterrupted);
    assertThat(said()).isEqualTo("begun");
    String key = "partition/" + future.id();
    String taken = cluster.documents().get(key).orElseThrow().json();
    String free =
        taken
            .replaceFirst("holder\":\"[^\"]*", "holder\":\"")
            .replaceFirst("expire\":\\d+", "expire\":0");
    String copy = "partition/1-900";
    cluster.documents().put(copy, Version.NONE, free);
    Await.until("the copy is removed", () -> cluster.documents().get(copy).isEmpty());
    MAY_END.release();
    assertThat(future.await()).isEqualTo("told");
    Await.until("it is removed", () -> cluster.documents().get(key).isEmpty());
    cluster.documents().put(key, Version.NONE, free);
    Await.until("it is removed again", () -> cluster.documents().get(key).isEmpty());
    requireNothingLeft();
    assertThat(SAID).isEmpty();
  }
}
