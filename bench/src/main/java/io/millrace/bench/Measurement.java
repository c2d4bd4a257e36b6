package io.millrace.bench;

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
}
