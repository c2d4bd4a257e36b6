package io.millrace.store.testkit.simulation;

import io.millrace.store.Commit;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Interest;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.StoreException;
import io.millrace.store.testkit.environment.SimulatedDisk;
import io.millrace.store.testkit.environment.SimulatedEnvironment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** The life of one store through its openings, and what its clients do meanwhile. */
final class Life {
  private final SimulatedEnvironment environment;
  private final RandomGenerator random;
  private final Ledger ledger = new Ledger(this::isHarmed);
  private final Arrivals arrivals;
  private final CommandMix mix;
  private final StateCheck reads;
  private final Openings openings;
  private final List<Listener> listeners = new ArrayList<>();
  private boolean harmed;
  private boolean stopped;
  private @Nullable Throwable why;

  Life(SimulatedEnvironment environment, RandomGenerator random) {
    this.environment = environment;
    this.random = random;
    arrivals = new Arrivals(environment, ledger);
    mix = new CommandMix(random, ledger.model());
    reads = new StateCheck(ledger, mix, random);
    openings = new Openings(environment, random, ledger);
  }

  private boolean isHarmed() {
    return harmed;
  }

  void begin() {
    openings.open();
  }

  void sendCommand() {
    arrivals.send(store(), mix.next());
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
    List<Sent> waiting = ledger.queue().waiting();
    if (!waiting.isEmpty()) {
      waiting.get(random.nextInt(waiting.size())).cancel();
    }
  }

  /** Subscribes, from now on or from some point of the past. */
  void listen() {
    if (listeners.size() > 5) {
      listeners.removeFirst().close();
    }
    Set<String> groups = random.nextBoolean() ? Set.of() : Set.of(mix.group());
    Set<String> collections = random.nextBoolean() ? Set.of() : Set.of(mix.collection());
    List<Commit> history = ledger.history();
    @Nullable Position after =
        history.isEmpty() || random.nextBoolean()
            ? null
            : history.get(random.nextInt(history.size())).position();
    Interest interest = new Interest(after, groups, collections);
    guarded(() -> {
      settle();
      if (!stopped) {
        try {
          listeners.add(new Listener(interest, store().subscribe(interest)));
        } catch (PositionLostException e) {
          if (e.why() != PositionLostException.Why.GONE) {
            throw new SimulationFailure("position " + after + " was refused", e);
          }
        }
      }
    });
  }

  void harm(Consumer<SimulatedDisk> fault) {
    harmed = true;
    fault.accept(environment.disk());
  }

  /** Lets all that is due happen, and settles what was answered with what was committed. */
  void settle() {
    guarded(() -> {
      environment.runUntilIdle();
      deliver();
      if (stopped || environment.disk().powerOff() || stuck()) {
        return;
      }
      List<Commit> commits = openings.poll();
      long timeMillis = store().tasks(List.of()).timeMillis();
      deliver();
      ledger.settle(commits, true);
      ledger.requireNothingUnsettled();
      ledger.queue().forgetCancelled();
      ledger.queue().checkNobodyIsForgotten(timeMillis, environment.nanos());
      for (Listener listener : listeners) {
        listener.check(ledger.history());
      }
    });
  }

  /** Notices when the store or its power is gone, and brings it back. */
  void afterAction() {
    deliver();
    if (environment.disk().powerOff()) {
      cutPower();
    } else if (stopped) {
      if (!harmed) {
        throw new SimulationFailure("the store stopped though nothing was done to it: " + why, why);
      }
      if (random.nextBoolean()) {
        cutPower();
      } else {
        closeHarmed();
      }
    }
  }

  /** The power goes, and comes back. */
  void cutPower() {
    environment.cutPower();
    comeBack();
  }

  /** The process ends without its disk losing anything, and begins again. */
  private void closeHarmed() {
    try {
      store().close();
    } catch (StoreException e) {
      // It had stopped before; a close that says so again is all right.
    }
    environment.scheduler().abandon();
    environment.disk().mend();
    comeBack();
  }

  private void comeBack() {
    deliver();
    listeners.clear();
    openings.comeBack();
    harmed = false;
    stopped = false;
    readEverything();
    settle();
    afterAction();
  }

  /** Closes the store in order and opens it again; it must hold the very same. */
  void restart() {
    settle();
    if (stopped || environment.disk().powerOff() || harmed) {
      return;
    }
    listeners.forEach(Listener::close);
    listeners.clear();
    ledger.queue().clear();
    openings.restart(random.nextBoolean());
    arrivals.deliver(); // claims that waited were told that the store closed
  }

  void end() {
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
    return openings.store();
  }

  private void deliver() {
    @Nullable Throwable failure = arrivals.deliver();
    if (failure != null) {
      stopped = true;
      why = failure;
    }
  }

  /** Does what fails when the store has stopped. */
  private void guarded(Runnable action) {
    try {
      action.run();
    } catch (StoreException e) {
      stopped = true;
      why = e;
    } catch (IllegalStateException e) {
      // Reads too wait while commits wait for room on the disk.
      if (!stuck()) {
        throw e;
      }
    }
  }

  /** Whether commits wait for room on the disk; they get it, and a second to notice. */
  private boolean stuck() {
    if (!store().disk().stuck()) {
      return false;
    }
    environment.disk().limitTo(Long.MAX_VALUE);
    environment.advance(Duration.ofSeconds(1));
    return true;
  }
}
