package io.millrace.bench;

import io.millrace.bench.Bench.BenchException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * One measured value.
 *
 * @param scenario the scenario it belongs to
 * @param what the name of the measured quantity
 * @param value the result
 * @param unit its unit
 * @param p50Micros the median latency in microseconds; null if none was measured
 * @param p99Micros the 99th percentile in microseconds; null if none was measured
 * @param ratio the value in relation to another of the same run; null for none
 * @param ratioTo what the ratio relates to; null for none
 * @param target the target in words; null for none
 * @param met whether the target is met; null if there is none
 */
public record Measurement(
    String scenario,
    String what,
    double value,
    String unit,
    @Nullable Double p50Micros,
    @Nullable Double p99Micros,
    @Nullable Double ratio,
    @Nullable String ratioTo,
    @Nullable String target,
    @Nullable Boolean met) {

  static Measurement of(String scenario, String what, double value, String unit) {
    return new Measurement(scenario, what, value, unit, null, null, null, null, null, null);
  }

  /** Lifecycles per second with their latencies. */
  static Measurement of(String scenario, String what, Load load) {
    return of(scenario, what, load.perSecond(), "lifecycles/s")
        .withLatency(load.micros(50), load.micros(99));
  }

  Measurement withLatency(double p50Micros, double p99Micros) {
    return new Measurement(
        scenario, what, value, unit, p50Micros, p99Micros, ratio, ratioTo, target, met);
  }

  Measurement withRatio(double ratio, String ratioTo) {
    return new Measurement(
        scenario, what, value, unit, p50Micros, p99Micros, ratio, ratioTo, target, met);
  }

  Measurement withTarget(String target, boolean met) {
    return new Measurement(
        scenario, what, value, unit, p50Micros, p99Micros, ratio, ratioTo, target, met);
  }

  /**
   * The result of a load.
   *
   * @param count the lifecycles that ended
   * @param nanos the measured time
   * @param latency the time of each measured thing, in nanoseconds
   */
  record Load(long count, long nanos, Histogram latency) {
    /** A histogram for latencies up to a minute, in nanoseconds. */
    static Histogram histogram() {
      return new Histogram(60_000_000_000L, 3);
    }

    /**
     * What callers do together, each on a virtual thread of its own.
     *
     * @param callers how many
     * @param caller what each does, by its number from 0
     */
    static Load ofCallers(int callers, Window window, IntFunction<Callable<Load>> caller)
        throws InterruptedException {
      try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
        List<Future<Load>> parts = new ArrayList<>();
        for (int i = 0; i < callers; i++) {
          parts.add(executor.submit(caller.apply(i)));
        }
        Histogram latency = histogram();
        long count = 0;
        for (Future<Load> part : parts) {
          count += part.get().count();
          latency.add(part.get().latency());
        }
        return new Load(count, window.nanos(), latency);
      } catch (ExecutionException e) {
        throw new BenchException("a caller failed: " + e.getCause(), e);
      }
    }

    /** What is measured of one caller. */
    @FunctionalInterface
    interface Call {
      void run() throws Exception;
    }

    /** Calls until the window ends; counts those that lie in it. */
    static Load ofCalls(Window window, Call each) throws Exception {
      Histogram latency = histogram();
      long count = 0;
      long began = System.nanoTime();
      while (began < window.until()) {
        each.run();
        long now = System.nanoTime();
        if (began >= window.from() && now < window.until()) {
          count++;
          latency.recordValue(now - began);
        }
        began = now;
      }
      return new Load(count, window.nanos(), latency);
    }

    /** Lifecycles per second. */
    double perSecond() {
      return count * 1e9 / nanos;
    }

    /** The latency in microseconds that this percentage of the measured things does not exceed. */
    double micros(double percentile) {
      return latency.getValueAtPercentile(percentile) / 1e3;
    }

    /**
     * When to measure.
     *
     * @param from the first moment, by {@link System#nanoTime}
     * @param until the moment after the last
     */
    record Window(long from, long until) {
      /** Begins after a warm-up of twice {@code time}, but at most ten seconds. */
      static Window after(Duration time) {
        long warm = Math.min(time.toNanos() * 2, 10_000_000_000L);
        long from = System.nanoTime() + warm;
        return new Window(from, from + time.toNanos());
      }

      long nanos() {
        return until - from;
      }
    }
  }
}
