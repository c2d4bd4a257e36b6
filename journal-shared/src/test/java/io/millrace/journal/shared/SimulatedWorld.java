package io.millrace.journal.shared;

import io.millrace.store.environment.Activity;
import io.millrace.store.environment.Disk;
import io.millrace.store.environment.Driver;
import io.millrace.store.environment.Environment;
import io.millrace.store.testkit.environment.SimulatedDisk;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Machines and clients in simulated time. Each of their activities has a thread, of which one runs
 * at a time: it gives way only where it waits, and a seed decides who is next. So code that waits
 * in the middle of a call, for a database or another thread, is simulated as it is.
 */
final class SimulatedWorld {
  private static final Instant START = Instant.parse("2030-01-01T00:00:00Z");
  private static final long NANOS_PER_MILLI = 1_000_000;

  /** How long after a wall clock was set back a machine is not suspended: longer than a lease. */
  private static final long SET_BACK_APART_NANOS = 2_000 * NANOS_PER_MILLI;

  /** Ends the threads of a machine that was killed. */
  static final class Killed extends Error {
    private static final long serialVersionUID = 1;

    Killed() {
      super("killed", null, false, false);
    }
  }

  /** A call waits for a machine that was killed. */
  static final class MachineGone extends RuntimeException {
    private static final long serialVersionUID = 1;

    MachineGone() {
      super("the machine is gone", null, false, false);
    }
  }

  private final SplittableRandom random;
  private final List<Fiber> fibers = new ArrayList<>();
  private final Semaphore turn = new Semaphore(0);
  private @Nullable Fiber current;
  private @Nullable Throwable failure;
  private long now;

  /** When the run is over, unless {@link #until} is so before. */
  private long endNanos;

  private BooleanSupplier until = () -> false;
  private boolean over;

  SimulatedWorld(long seed) {
    this.random = new SplittableRandom(seed);
  }

  /** The time since the start. */
  long nanos() {
    return now;
  }

  /** A new generator, which follows from the seed. */
  SplittableRandom newRandom() {
    return random.split();
  }

  /** Starts something that belongs to no machine. */
  void start(Runnable body) {
    fibers.add(new Fiber(null, body));
  }

  /** Does something after a while. */
  void after(long nanos, Runnable action) {
    start(() -> {
      pause(nanos);
      action.run();
    });
  }

  /** Waits; called by what was started. */
  void pause(long nanos) {
    await(nanos, () -> false);
  }

  /**
   * Waits until something is so; called by what was started.
   *
   * @param nanos the longest wait, {@link Long#MAX_VALUE} for none
   * @return whether it is so
   */
  boolean await(long nanos, BooleanSupplier so) {
    Objects.requireNonNull(current, "outside of the simulation").block(nanos, so);
    return so.getAsBoolean();
  }

  /** Runs until something is so, at most for a while; returns whether it is. */
  boolean run(Duration longest, BooleanSupplier so) {
    endNanos = now + longest.toNanos();
    until = so;
    for (Fiber next = next(); next != null; next = next()) {
      resume(next);
    }
    if (!so.getAsBoolean()) {
      now = endNanos;
    }
    return so.getAsBoolean();
  }

  /** Who runs next, at which time; null if the run is over. */
  private @Nullable Fiber next() {
    while (!until.getAsBoolean()) {
      Fiber picked = pick();
      if (picked != null) {
        return picked;
      }
      long due = fibers.stream().mapToLong(Fiber::runnableFrom).min().orElse(Long.MAX_VALUE);
      if (due > endNanos) {
        return null;
      }
      now = Math.max(now, due);
    }
    return null;
  }

  /** Ends all threads. */
  void end() {
    over = true;
    while (!fibers.isEmpty()) {
      resume(fibers.getFirst());
    }
  }

  private @Nullable Fiber pick() {
    @Nullable Fiber picked = null;
    int seen = 0;
    for (Fiber fiber : fibers) {
      if (fiber.runnableFrom() <= now) {
        seen++;
        if (seen == 1 || random.nextInt(seen) == 0) {
          picked = fiber;
        }
      }
    }
    return picked;
  }

  /** Lets threads run, beginning with this one, until one ends or the run is over. */
  private void resume(Fiber fiber) {
    fiber.resume();
    turn.acquireUninterruptibly();
    Fiber last = Objects.requireNonNull(current);
    current = null;
    if (last.finished) {
      fibers.remove(last);
    }
    Throwable thrown = failure;
    if (thrown != null) {
      failure = null;
      throw new IllegalStateException("after " + Duration.ofNanos(now) + ": " + thrown, thrown);
    }
  }

  /** A thread that runs when it is its turn. */
  private final class Fiber {
    private final @Nullable Machine machine;
    private final Semaphore go = new Semaphore(0);
    private final Thread thread;
    private long dueNanos = now;
    private BooleanSupplier so = () -> false;
    private boolean started;
    private boolean finished;

    Fiber(@Nullable Machine machine, Runnable body) {
      this.machine = machine;
      this.thread = Thread.ofVirtual().unstarted(() -> run(body));
    }

    private void run(Runnable body) {
      try {
        if (!ends()) {
          body.run();
        }
      } catch (Killed _) {
        // As its machine.
      } catch (Throwable thrown) {
        if (!ends()) {
          failure = thrown;
        }
      } finally {
        finished = true;
        turn.release();
      }
    }

    private boolean ends() {
      return over || (machine != null && machine.killed);
    }

    void resume() {
      current = this;
      if (started) {
        go.release();
      } else {
        started = true;
        thread.start();
      }
    }

    long runnableFrom() {
      if (ends()) {
        return now;
      }
      long due = so.getAsBoolean() ? now : dueNanos;
      return machine == null ? due : Math.max(due, machine.stoppedUntil);
    }

    void block(long nanos, BooleanSupplier condition) {
      if (ends()) {
        throw new Killed();
      }
      dueNanos = nanos >= Long.MAX_VALUE - now ? Long.MAX_VALUE : now + nanos;
      so = condition;
      Fiber next = next();
      if (next == null) {
        turn.release();
      } else if (next != this) {
        next.resume();
      }
      if (next != this) {
        go.acquireUninterruptibly();
      }
      so = () -> false;
      if (ends()) {
        throw new Killed();
      }
    }
  }

  /** A new machine, whose monotonic clock runs up to 4 % too fast or too slowly. */
  Machine machine() {
    return new Machine();
  }

  /** A machine from its start until it is killed. */
  final class Machine implements Environment {
    private final SplittableRandom seeds = random.split();
    private final double rate = 0.96 + 0.08 * seeds.nextDouble();
    private final long origin = seeds.nextLong(1L << 50);
    private final SimulatedDisk disk = new SimulatedDisk(seeds.split());
    private long wallOffsetMillis = START.toEpochMilli();
    private boolean killed;
    private long stoppedUntil;
    private long cutOffUntil;

    /** How long its monotonic clock has stood still. */
    private long suspendedNanos;

    private long suspendedUntil;

    /** When its wall clock was set back last; negative for never. */
    private long setBackNanos = -1;

    private Machine() {}

    /** Starts its program. */
    void start(Runnable program) {
      fibers.add(new Fiber(this, program));
    }

    /** Ends all that runs on it. */
    void kill() {
      killed = true;
    }

    boolean isKilled() {
      return killed;
    }

    /** Stops its programs for a while. */
    void stop(long nanos) {
      stoppedUntil = Math.max(stoppedUntil, now + nanos);
    }

    /**
     * Suspends it for a while, so that its monotonic clock stands still; if its wall clock was just
     * set back, only its programs stop.
     */
    void suspend(long nanos) {
      if (setBackNanos < 0 || now - setBackNanos > SET_BACK_APART_NANOS) {
        suspendedNanos += nanos;
        suspendedUntil = now + nanos;
      }
      stop(nanos);
    }

    /** Cuts it off from the database for a while. */
    void cutOff(long nanos) {
      cutOffUntil = now + nanos;
    }

    boolean isCutOff() {
      return cutOffUntil > now;
    }

    /**
     * Sets its wall clock; not back while it is suspended. Set back by as much as it was suspended,
     * both clocks would say that no time has passed, and nothing on the machine could tell.
     */
    void jumpWall(long millis) {
      if (millis < 0 && now < suspendedUntil) {
        return;
      }
      wallOffsetMillis += millis;
      if (millis < 0) {
        setBackNanos = now;
      }
    }

    @Override
    public long wallMillis() {
      return wallOffsetMillis + now / NANOS_PER_MILLI;
    }

    @Override
    public long nanos() {
      return origin + (long) ((now - suspendedNanos) * rate);
    }

    @Override
    public RandomGenerator newRandom() {
      return seeds.split();
    }

    @Override
    public Disk disk() {
      return disk;
    }

    @Override
    public <T> T await(CompletableFuture<T> answer) {
      SimulatedWorld.this.await(Long.MAX_VALUE, () -> answer.isDone() || killed);
      if (!answer.isDone()) {
        throw new MachineGone();
      }
      return answer.join();
    }

    @Override
    public Driver drive(String name, Activity activity) {
      Stepped driver = new Stepped(this, activity);
      fibers.add(driver.fiber);
      return driver;
    }
  }

  /** Steps an activity. */
  private final class Stepped implements Driver {
    private final Machine machine;
    private final Activity activity;
    private final Fiber fiber;
    private boolean signalled;

    Stepped(Machine machine, Activity activity) {
      this.machine = machine;
      this.activity = activity;
      this.fiber = new Fiber(machine, this::run);
    }

    private void run() {
      try {
        while (true) {
          signalled = false;
          long wait = activity.step();
          if (wait == Activity.FINISHED) {
            return;
          }
          long nanos =
              wait == Activity.UNTIL_SIGNALLED
                  ? Long.MAX_VALUE
                  : (long) Math.ceil(wait / machine.rate);
          fiber.block(nanos, () -> signalled);
        }
      } catch (Killed e) {
        throw e;
      } catch (Throwable thrown) {
        activity.failed(thrown);
        throw thrown;
      }
    }

    @Override
    public void signal() {
      signalled = true;
    }

    @Override
    public void join() {
      if (current != fiber) {
        SimulatedWorld.this.await(Long.MAX_VALUE, () -> fiber.finished);
      }
    }
  }
}
