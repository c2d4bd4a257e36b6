package io.millrace.store.testkit.simulation;

import io.millrace.store.Command;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Outcome;
import io.millrace.store.StoreClosedException;
import io.millrace.store.testkit.environment.SimulatedEnvironment;
import io.millrace.store.testkit.simulation.PendingCommands.Sent;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Sends commands, and passes the answers to the history checker in order of arrival. */
final class AnswerQueue {
  private record Arrival(
      Sent sent, @Nullable Outcome outcome, @Nullable Throwable failure, long nanos) {}

  private final SimulatedEnvironment environment;
  private final HistoryChecker historyChecker;
  private final List<Arrival> answers = new ArrayList<>();
  private long sentCount;

  AnswerQueue(SimulatedEnvironment environment, HistoryChecker historyChecker) {
    this.environment = environment;
    this.historyChecker = historyChecker;
  }

  /**
   * Sends a command. Every second command is sent as an event loop would, which offers its thread.
   */
  void send(EmbeddedTaskStore store, Command command) {
    boolean offersThread = sentCount % 2 == 1;
    Sent sent = new Sent(sentCount++, command, environment.nanos());
    historyChecker.pending().sent(sent);
    CompletableFuture<Outcome> future =
        offersThread ? store.enqueue(command) : store.submit(command);
    sent.future(
        future,
        future.handle((outcome, failure) ->
            answers.add(new Arrival(sent, outcome, failure, environment.nanos()))));
    if (offersThread) {
      store.wake();
    }
  }

  /**
   * Passes the answers that have arrived to the history checker.
   *
   * @return a failure that says that the store has stopped; null for none
   */
  @Nullable Throwable deliver() {
    @Nullable Throwable stopped = null;
    List<Arrival> come = List.copyOf(answers);
    answers.clear();
    for (Arrival arrival : come) {
      Outcome outcome = arrival.outcome();
      if (outcome != null) {
        PendingCommands.checkWait(arrival.sent(), outcome, arrival.nanos());
        historyChecker.answered(arrival.sent(), outcome);
      } else if (arrival.failure() instanceof StoreClosedException closed) {
        // The failure promises that nothing changed, so a commit of this command would be an error.
        historyChecker.pending().answered(arrival.sent());
        stopped = closed;
      } else if (!(arrival.failure() instanceof CancellationException)) {
        stopped = arrival.failure();
      }
    }
    return stopped;
  }
}
