package io.millrace.store.testkit.simulation;

import io.millrace.store.testkit.environment.SimulatedEnvironment;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/**
 * Runs the real store and its real journal in a simulated environment, with random commands of
 * several clients, crashes and faults of the disk, and checks every answer against a simple model.
 * A run is determined by its seed.
 */
public final class StoreSimulation {
  private final SimulationOptions options;
  private final RandomGenerator random;
  private final SimulatedEnvironment environment;
  private final StoreLifecycle life;
  private final boolean rots;
  private int step;

  private StoreSimulation(SimulationOptions options) {
    this.options = options;
    SplittableRandom seeds = new SplittableRandom(options.seed());
    environment = new SimulatedEnvironment(seeds.nextLong());
    environment.scheduler().eager(false);
    options.disk().accept(environment.disk());
    random = seeds.split();
    rots = random.nextInt(3) == 0;
    life = new StoreLifecycle(environment, seeds.split());
  }

  /** Runs {@link SimulationOptions#STEPS} steps from {@code seed}. */
  public static void run(long seed) {
    run(SimulationOptions.seed(seed));
  }

  /**
   * Runs a simulation to its end.
   *
   * @throws SimulationFailure if the store has broken its guarantees, with seed and step
   */
  public static void run(SimulationOptions options) {
    new StoreSimulation(options).run();
  }

  private void run() {
    try {
      life.begin();
      for (step = 1; step <= options.steps(); step++) {
        act();
      }
      life.end();
    } catch (SimulationFailure | RuntimeException | StackOverflowError e) {
      throw new SimulationFailure(
          "seed "
              + options.seed()
              + ", step "
              + step
              + " of "
              + options.steps()
              + ": "
              + e.getMessage(),
          e);
    }
  }

  private void act() {
    int choice = random.nextInt(1000);
    if (choice < 531) {
      life.sendCommand();
    } else if (choice < 539) {
      life.slowDown();
    } else if (choice < 542) {
      life.intrude();
    } else if (choice < 545) {
      life.backUp();
    } else if (choice < 546) {
      life.restoreBackup();
    } else if (choice < 549) {
      life.killProcess();
    } else if (choice < 552) {
      life.mend();
    } else if (choice < 560) {
      if (rots) {
        life.damage();
      }
    } else if (choice < 760) {
      step(random.nextInt(1, 6));
    } else if (choice < 830) {
      life.readSomething();
    } else if (choice < 900) {
      environment.advance(Duration.ofNanos(random.nextLong(5_000_000)));
    } else if (choice < 925) {
      environment.advance(Duration.ofMillis(random.nextLong(20_000)));
    } else if (choice < 927) {
      environment.advance(Duration.ofMillis(random.nextLong(700_000)));
    } else if (choice < 930) {
      environment.clock().jumpWall(Duration.ofMillis(random.nextLong(-50_000, 50_000)));
    } else if (choice < 940) {
      life.cancelSomething();
    } else if (choice < 948) {
      life.listen();
    } else if (choice < 978) {
      life.settle();
    } else if (choice < 982) {
      life.requestSnapshot();
    } else if (choice < 986) {
      life.readEverything();
    } else if (choice < 994) {
      harm();
    } else if (choice < 997) {
      life.cutPower();
    } else {
      life.restart();
    }
    life.afterAction();
  }

  private void harm() {
    int when = random.nextInt(1, 60);
    switch (random.nextInt(8)) {
      case 0 -> life.harm(disk -> disk.failSyncAfter(when));
      case 1 -> life.harm(disk -> disk.failWriteAfter(when));
      case 2 ->
          life.harm(disk ->
              disk.limitTo(disk.isLimited() ? Long.MAX_VALUE : disk.usedBytes() + when * 100L));
      case 3 -> life.harm(disk -> disk.failReadAfter(when));
      case 4 -> life.harm(disk -> disk.failFolderAfter(random.nextInt(1, 6)));
      default -> life.harm(disk -> disk.cutPowerAfter(when));
    }
  }

  private void step(int times) {
    for (int i = 0; i < times && environment.step(); i++) {
      // Each step does one activity's work.
    }
  }
}
