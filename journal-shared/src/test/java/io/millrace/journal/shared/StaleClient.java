package io.millrace.journal.shared;

import io.millrace.journal.shared.SimulatedWorld.Machine;
import io.millrace.store.Document;
import io.millrace.store.Position;
import io.millrace.store.StandbyStore;
import io.millrace.store.StandbyStore.TooStaleException;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.TaskStore.Read;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A client that reads at standbys, at any of them in turn, and names the last position that it saw.
 */
final class StaleClient {
  private static final long LONGEST_WAIT_NANOS = 20_000_000_000L;
  private static final List<Duration> BOUNDS =
      List.of(
          Duration.ofMillis(60),
          Duration.ofMillis(200),
          Duration.ofSeconds(1),
          Duration.ofSeconds(5));

  /** A server that does not lead, or has begun to lead this moment. */
  record Server(Machine machine, StandbyStore store) {}

  private final SimulatedWorld world;
  private final SharedStoreReferee referee;
  private final SplittableRandom random;
  private @Nullable Position last;

  StaleClient(SimulatedWorld world, SharedStoreReferee referee, SplittableRandom random) {
    this.world = world;
    this.referee = referee;
    this.random = random;
  }

  /**
   * What the client asks for.
   *
   * @param after the position that the answer must have; null for none
   */
  record Wanted(Duration bound, @Nullable Position after) {}

  /** Reads once, on the machine of the server, which may stand still meanwhile. */
  void read(Server server, String collection) {
    Wanted wanted =
        new Wanted(BOUNDS.get(random.nextInt(BOUNDS.size())), random.nextInt(4) == 0 ? null : last);
    long began = world.nanos();
    CompletableFuture<Read<List<Document>>> answer = new CompletableFuture<>();
    server
        .machine()
        .start(() -> {
          try {
            answer.complete(
                server
                    .store()
                    .reads(wanted.bound(), wanted.after())
                    .documents(DocumentQuery.prefix(collection, "")));
          } catch (TooStaleException e) {
            answer.completeExceptionally(e);
          }
        });
    if (world.await(LONGEST_WAIT_NANOS, answer::isDone) && !answer.isCompletedExceptionally()) {
      Read<List<Document>> read = answer.join();
      referee.staleRead(began, world.nanos(), wanted, read.position(), read.value());
      last = read.position();
    }
  }
}
