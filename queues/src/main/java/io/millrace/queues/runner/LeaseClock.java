package io.millrace.queues.runner;

import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The time that a claim is kept by.
 *
 * @param nanos a clock that never goes back
 * @param guard alarms for what must happen in time, and never waits for a server
 * @param renewal alarms for what may wait for a server
 */
record LeaseClock(LongSupplier nanos, Alarm guard, Alarm renewal) {
  /** Calls back later. */
  @FunctionalInterface
  interface Alarm {
    /** Calls after so many nanoseconds, at once for none or fewer; what is given takes it back. */
    Runnable set(long nanos, Runnable call);
  }

  static LeaseClock of(Schedule schedule) {
    return new LeaseClock(System::nanoTime, alarm(schedule.guard()), alarm(schedule.renewal()));
  }

  private static Alarm alarm(ScheduledExecutorService executor) {
    return (nanos, call) -> {
      ScheduledFuture<?> due = executor.schedule(call, Math.max(0, nanos), TimeUnit.NANOSECONDS);
      return () -> due.cancel(false);
    };
  }
}
