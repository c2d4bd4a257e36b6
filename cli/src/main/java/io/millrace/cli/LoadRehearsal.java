package io.millrace.cli;

import io.millrace.cli.terminal.ExitCode;
import io.millrace.client.HttpTaskStore;
import io.millrace.store.Claim;
import io.millrace.store.Owner;
import io.millrace.store.Task;
import io.millrace.store.Transaction;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

/**
 * Puts load on a server for a while, so that the cache made of it knows which code is hot and how
 * it is used: a server that starts with that is compiled, and fast, some seconds earlier.
 */
final class LoadRehearsal {
  private static final int CLIENTS = 16;
  private static final int LIFECYCLES = 1_000;

  /** A slow disk must not make the build wait. */
  private static final Duration LONGEST = Duration.ofSeconds(10);

  private static final Duration LEASE = Duration.ofMinutes(1);

  private LoadRehearsal() {}

  /** Runs lifecycles of tasks against a server; the exit code. */
  static int play(URI server) {
    long end = System.nanoTime() + LONGEST.toNanos();
    try (HttpTaskStore store = HttpTaskStore.open(server)) {
      CompletableFuture<?>[] chains =
          IntStream.rangeClosed(1, CLIENTS)
              .mapToObj(client -> chain(store, client, end))
              .toArray(CompletableFuture[]::new);
      CompletableFuture.allOf(chains).join();
    }
    return ExitCode.OK;
  }

  private static CompletableFuture<Void> chain(HttpTaskStore store, int client, long end) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    Thread.ofVirtual()
        .start(() -> {
          try {
            Owner owner = Owner.client(client);
            for (int i = 0; i < LIFECYCLES && System.nanoTime() - end < 0; i++) {
              live(store, owner);
            }
            done.complete(null);
          } catch (RuntimeException | Error e) {
            done.completeExceptionally(e);
          }
        });
    return done;
  }

  private static void live(HttpTaskStore store, Owner owner) {
    store.commit(Transaction.by(owner).add("rehearsal", "a task of some bytes").build()).done();
    for (Task task : store.claim(Claim.of(owner, "rehearsal", LEASE)).done().tasks()) {
      store.commit(Transaction.by(owner).delete(task.ref()).build()).done();
    }
  }
}
