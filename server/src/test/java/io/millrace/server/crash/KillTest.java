package io.millrace.server.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.PositionLostException.Why;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.TaskStore;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A server that is killed under load again and again, and every answer that it ever gave. {@code
 * -Dmillrace.kill.kills=N} kills the strict one more often than twice.
 */
@Timeout(1_800)
class KillTest {
  private static final int KILLS = Integer.getInteger("millrace.kill.kills", 2);
  private static final int OPPORTUNISTIC_KILLS = 2;
  private static final int WORKERS = 6;

  @Test
  void a_strict_server_killed_under_load_keeps_every_answer(@TempDir Path folder) throws Exception {
    Ledger ledger = new Ledger();
    List<Worker> workers =
        IntStream.rangeClosed(1, WORKERS).mapToObj(i -> new Worker(i, ledger)).toList();
    SplittableRandom random = new SplittableRandom(9);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int kill = 1; kill <= KILLS; kill++) {
        try (ServerProcess server = ServerProcess.start(folder, "strict");
            TaskStore store = server.connect()) {
          takeUp(workers, ledger, store);
          Semaphore answers = new Semaphore(0);
          List<Future<?>> ends =
              workers.stream()
                  .<Future<?>>map(worker -> threads.submit(() -> worker.work(store, answers)))
                  .toList();
          killAfter(100 + random.nextInt(200), answers, server, ends);
        }
      }
    }
    try (ServerProcess server = ServerProcess.start(folder, "strict");
        TaskStore store = server.connect()) {
      takeUp(workers, ledger, store);
      assertThat(ledger.size()).isGreaterThan(KILLS * 50);
      ledger.checkEverything(Contents.of(store));
      server.kill();
    }
  }

  private static void takeUp(List<Worker> workers, Ledger ledger, TaskStore store) {
    Contents contents = Contents.of(store);
    ledger.checkWhatIsCertain(contents);
    workers.forEach(worker -> worker.look(contents));
    workers.forEach(worker -> worker.settle(store));
  }

  private static void killAfter(
      int count, Semaphore answers, ServerProcess server, List<Future<?>> ends) throws Exception {
    assertThat(answers.tryAcquire(count, 60, TimeUnit.SECONDS)).as("answers under load").isTrue();
    server.kill();
    for (Future<?> end : ends) {
      end.get();
    }
  }

  @Test
  void an_opportunistic_server_killed_under_load_keeps_a_prefix_and_says_so(@TempDir Path folder)
      throws Exception {
    List<Chain> chains = IntStream.rangeClosed(1, WORKERS).mapToObj(Chain::new).toList();
    @Nullable Position before = null;
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int start = 0; start <= OPPORTUNISTIC_KILLS; start++) {
        try (ServerProcess server = ServerProcess.start(folder, "opportunistic");
            TaskStore store = server.connect()) {
          Contents contents = Contents.of(store);
          if (before != null) {
            checkOldPositions(store, before, contents.position());
          }
          chains.forEach(chain -> chain.checkPrefix(store, contents));
          Semaphore answers = new Semaphore(0);
          List<Future<?>> ends =
              chains.stream()
                  .<Future<?>>map(chain -> threads.submit(() -> chain.work(store, answers)))
                  .toList();
          killAfter(300, answers, server, ends);
          before = null;
          for (Chain chain : chains) {
            Position last = chain.last();
            if (last != null && (before == null || last.number() > before.number())) {
              before = last;
            }
          }
        }
      }
    }
  }

  /** What a subscriber may go on from: its old history, as far as it was not lost. */
  private static void checkOldPositions(TaskStore store, Position last, Position recovered) {
    assertThat(recovered.history()).as("commits may have been lost").isNotEqualTo(last.history());
    for (long number : List.of(last.number(), recovered.number(), recovered.number() + 1)) {
      Interest interest = Interest.everything().after(new Position(last.history(), number));
      if (number <= recovered.number()) {
        store.subscribe(interest).close();
      } else {
        assertThatThrownBy(() -> store.subscribe(interest).close())
            .isInstanceOfSatisfying(
                PositionLostException.class, e -> assertThat(e.why()).isEqualTo(Why.OTHER_HISTORY));
      }
    }
  }
}
