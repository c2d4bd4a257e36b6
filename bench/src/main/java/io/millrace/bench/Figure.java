package io.millrace.bench;

import org.jspecify.annotations.Nullable;

/**
 * One result.
 *
 * @param scenario the scenario it belongs to
 * @param what what was measured
 * @param value the result
 * @param unit its unit
 * @param p50Micros the median latency in microseconds; null if none was measured
 * @param p99Micros the 99th percentile in microseconds; null if none was measured
 * @param ratio the value in relation to another of the same run; null for none
 * @param ratioTo what the ratio relates to; null for none
 * @param target the target in words; null for none
 * @param met whether the target is met; null if there is none
 */
public record Figure(
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

  static Figure of(String scenario, String what, double value, String unit) {
    return new Figure(scenario, what, value, unit, null, null, null, null, null, null);
  }

  /** Lifecycles per second with their latencies. */
  static Figure of(String scenario, String what, Load load) {
    return of(scenario, what, load.perSecond(), "lifecycles/s")
        .withLatency(load.micros(50), load.micros(99));
  }

  Figure withLatency(double p50Micros, double p99Micros) {
    return new Figure(
        scenario, what, value, unit, p50Micros, p99Micros, ratio, ratioTo, target, met);
  }

  Figure withRatio(double ratio, String ratioTo) {
    return new Figure(
        scenario, what, value, unit, p50Micros, p99Micros, ratio, ratioTo, target, met);
  }

  Figure withTarget(String target, boolean met) {
    return new Figure(
        scenario, what, value, unit, p50Micros, p99Micros, ratio, ratioTo, target, met);
  }
}
