package io.millrace.store.testkit.simulation;

import io.millrace.store.Commit;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.journal.JournalException;
import io.millrace.store.testkit.environment.SimulatedDisk;
import io.millrace.store.testkit.environment.SimulatedEnvironment;
import io.millrace.store.testkit.simulation.PendingCommands.Sent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Runs one store through crashes and restarts while its clients send commands, read and subscribe.
 */
final class StoreLifecycle {
  private final SimulatedEnvironment environment;
  private final RandomGenerator random;
  private final Limits limits;
  private final HistoryChecker historyChecker;
  private final AnswerQueue answers;
  private final CommandMix mix;
  private final StateCheck reads;
  private final RestartCheck restarts;
  private final List<CheckedSubscriber> listeners = new ArrayList<>();
  private boolean harmed;

  /** Whether the store may have been unable to handle commands since the last settling. */
  private boolean delayed;

  private boolean stopped;
  private @Nullable Throwable why;

  StoreLifecycle(SimulatedEnvironment environment, RandomGenerator random) {
    this.environment = environment;
    this.random = random;
    limits = StoreOpener.limits(random);
    historyChecker = new HistoryChecker(limits, this::isHarmed);
    answers = new AnswerQueue(environment, historyChecker);
    mix = new CommandMix(random, historyChecker.model());
    reads = new StateCheck(historyChecker, mix, random);
    StoreOpener opener =
        new StoreOpener(environment, random, limits, () -> historyChecker.model().number());
    restarts = new RestartCheck(environment, random, historyChecker, opener);
  }

  private boolean isHarmed() {
    return harmed;
  }

  void begin() {
    restarts.open();
  }

  void sendCommand() {
    answers.send(store(), mix.next());
  }

  void readSomething() {
    guarded(() -> reads.readSomething(store()));
  }

  void readEverything() {
    guarded(() -> reads.readEverything(store()));
  }

  void requestSnapshot() {
    guarded(store()::requestSnapshot);
  }

  void cancelSomething() {
    List<Sent> waiting = historyChecker.pending().waiting();
    if (!waiting.isEmpty()) {
      waiting.get(random.nextInt(waiting.size())).cancel();
    }
  }

  /** Subscribes from now on, or from a random earlier position. */
  void listen() {
    if (random.nextInt(4) == 0 && listeners.size() + 1 < limits.subscribers()) {
      guarded(restarts::requireGoneIsRefused);
    }
    if (listeners.size() > 5) {
      listeners.removeFirst().close();
    }
    Set<String> groups = random.nextBoolean() ? Set.of() : Set.of(mix.group());
    Set<String> collections = random.nextBoolean() ? Set.of() : Set.of(mix.collection());
    List<Commit> history = historyChecker.history();
    @Nullable Position after =
        history.isEmpty() || random.nextBoolean()
            ? null
            : history.get(random.nextInt(history.size())).position();
    Interest interest = new Interest(after, groups, collections);
    guarded(() -> {
      settle();
      if (!stopped) {
        subscribe(interest);
      }
    });
  }

  private void subscribe(Interest interest) {
    // One more follows all commits for the ledger.
    boolean full = listeners.size() + 1 >= limits.subscribers();
    try {
      listeners.add(new CheckedSubscriber(interest, store().subscribe(interest)));
    } catch (PositionLostException e) {
      if (e.why() != PositionLostException.Why.GONE) {
        throw new SimulationFailure("position " + interest.after() + " was refused", e);
      }
    } catch (JournalException e) {
      requireExcuse(e);
    } catch (StoreClosedException | OutcomeUnknownException e) {
      throw e;
    } catch (StoreException e) {
      if (!full) {
        throw new SimulationFailure("no subscription: " + e.getMessage(), e);
      }
      full = false;
    }
    if (full && listeners.size() + 1 > limits.subscribers()) {
      throw new SimulationFailure("more than " + limits.subscribers() + " subscriptions");
    }
  }

  /** Checks that there was a fault or damage, since otherwise a read of the disk must not fail. */
  private void requireExcuse(JournalException e) {
    if (!harmed && !environment.disk().damaged()) {
      throw new SimulationFailure("the journal cannot be read: " + e.getMessage(), e);
    }
  }

  void harm(Consumer<SimulatedDisk> fault) {
    harmed = true;
    delayed = true;
    fault.accept(environment.disk());
  }

  /** Runs everything that is due, and settles the answers with the commits. */
  void settle() {
    guarded(() -> {
      environment.scheduler().releaseHeld();
      environment.runUntilIdle();
      deliver();
      if (stopped || environment.disk().powerOff() || stuck()) {
        return;
      }
      settleStreamed();
      // A store wakes up to a millisecond after something is due; a read makes it look before.
      long timeMillis = store().tasks(List.of()).timeMillis();
      environment.runUntilIdle();
      deliver();
      if (stopped || environment.disk().powerOff() || stuck()) {
        return;
      }
      settleStreamed();
      historyChecker.pending().forgetCancelled();
      int waiting = historyChecker.pending().waiting().size();
      if (waiting > limits.waitingClaims()) {
        throw new SimulationFailure(waiting + " claims wait, more than " + limits.waitingClaims());
      }
      if (delayed) {
        historyChecker.pending().handledBy(environment.nanos());
        delayed = harmed;
      }
      historyChecker.pending().checkWaitingClaims(timeMillis, environment.nanos());
      listeners.removeIf(listener -> !follows(listener));
    });
  }

  private void settleStreamed() {
    historyChecker.settle(poll(), true);
    historyChecker.requireNothingUnsettled();
  }

  /**
   * The streamed commits. A stream whose past cannot be read ends with an error, but the store
   * continues, and once the disk works again, another stream gets everything.
   */
  private List<Commit> poll() {
    try {
      return restarts.poll();
    } catch (JournalException e) {
      requireExcuse(e);
      environment.disk().heal();
      restarts.streamAgain();
      return restarts.poll();
    }
  }

  /** Checks what a subscriber received; returns false if its past cannot be read. */
  private boolean follows(CheckedSubscriber listener) {
    try {
      listener.check(historyChecker.history());
      return true;
    } catch (PositionLostException e) {
      listener.close();
      requireTooSlow(e);
      return false;
    } catch (JournalException e) {
      requireExcuse(e);
      listener.close();
      return false;
    }
  }

  /**
   * Checks that a subscriber lost its position only because its lag is limited and the next commits
   * are gone.
   */
  private void requireTooSlow(PositionLostException e) {
    Limits usual = Limits.defaults();
    boolean smallLag =
        limits.subscriberLag() < usual.subscriberLag()
            || limits.subscriberLagBytes() < usual.subscriberLagBytes();
    if (e.why() != PositionLostException.Why.TOO_SLOW || !smallLag) {
      throw new SimulationFailure("a subscriber was cut off: " + e.getMessage(), e);
    }
    restarts.requireGone(e.position());
  }

  /** Blocks the threads that write to the disk for a while. */
  void slowDown() {
    delayed = true;
    Duration time = Duration.ofMillis(random.nextLong(1, 3_000));
    environment.scheduler().hold(random.nextInt(4) == 0 ? "snapshot" : "journal-sync", time);
  }

  /** Cancels the faults that did not stop the store. From now on, a failure is an error. */
  void mend() {
    environment.disk().mend();
    environment.advance(Duration.ofSeconds(2)); // a store that had no room looks every second
    settle();
    if (!stopped && !environment.disk().powerOff()) {
      harmed = false;
    }
  }

  /** Damages something on the disk; later crashes and restarts must handle it. */
  void damage() {
    if (random.nextBoolean()) {
      settle(); // what is damaged then has been told
    }
    if (random.nextInt(3) == 0) {
      environment.disk().bringBack();
    } else {
      environment.disk().rot();
    }
    if (random.nextBoolean()) {
      killProcess();
    }
  }

  void intrude() {
    guarded(() -> {
      try {
        restarts.intrude();
      } catch (JournalException e) {
        requireExcuse(e);
      }
    });
  }

  void backUp() {
    if (!harmed) {
      guarded(() -> restarts.backUp(reads));
    }
  }

  /** Restores a backup, if there is one. */
  void restoreBackup() {
    settle();
    if (stopped || harmed || environment.disk().powerOff() || !restarts.canGoBack()) {
      return;
    }
    closeListeners();
    historyChecker.pending().clear();
    restarts.goBack();
    answers.deliver(); // claims that waited were told that the store closed
  }

  private void closeListeners() {
    listeners.forEach(CheckedSubscriber::close);
    listeners.clear();
  }

  /** Kills the process and starts it again on the same machine. */
  void killProcess() {
    environment.killProcess();
    comeBack();
  }

  /** Checks whether the store has stopped or the power is off, and starts it again. */
  void afterAction() {
    deliver();
    if (environment.disk().powerOff()) {
      cutPower();
    } else if (stopped) {
      if (!harmed) {
        throw new SimulationFailure("the store stopped without a fault: " + why, why);
      }
      if (random.nextBoolean()) {
        cutPower();
      } else {
        closeHarmed();
      }
    }
  }

  /** Cuts the power and restores it. */
  void cutPower() {
    environment.cutPower();
    comeBack();
  }

  /** Ends the process without loss on the disk, and starts it again. */
  private void closeHarmed() {
    try {
      store().close();
    } catch (StoreException e) {
      // It had stopped before, so close may report that again.
    }
    environment.scheduler().abandon();
    environment.disk().mend();
    comeBack();
  }

  private void comeBack() {
    deliver();
    listeners.clear();
    restarts.comeBack();
    harmed = false;
    stopped = false;
    readEverything();
    settle();
    afterAction();
  }

  /** Closes the store normally and opens it again; its content must be the same. */
  void restart() {
    settle();
    if (stopped || environment.disk().powerOff() || harmed) {
      return;
    }
    if (environment.disk().damaged()) {
      killProcess();
      return;
    }
    closeListeners();
    historyChecker.pending().clear();
    restarts.restart(random.nextBoolean());
    answers.deliver(); // claims that waited were told that the store closed
  }

  void end() {
    environment.disk().heal();
    if (harmed) {
      cutPower();
    }
    readEverything();
    settle();
    restart();
    readEverything();
    settle();
    store().close();
  }

  private EmbeddedTaskStore store() {
    return restarts.store();
  }

  private void deliver() {
    @Nullable Throwable failure = answers.deliver();
    if (failure != null) {
      stopped = true;
      why = failure;
    }
  }

  /** Runs an action that may fail because the store has stopped. */
  private void guarded(Runnable action) {
    try {
      action.run();
    } catch (StoreException e) {
      stopped = true;
      why = e;
    } catch (IllegalStateException e) {
      // Reads also wait while commits wait for space on the disk.
      if (!stuck()) {
        throw e;
      }
    }
  }

  /**
   * Whether commits wait for space on the disk. If so, frees space and advances time for a second.
   */
  private boolean stuck() {
    if (!store().disk().stuck()) {
      return false;
    }
    environment.disk().limitTo(Long.MAX_VALUE);
    environment.advance(Duration.ofSeconds(1));
    return true;
  }
}
