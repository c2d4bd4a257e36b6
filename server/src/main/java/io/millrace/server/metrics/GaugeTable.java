package io.millrace.server.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.MultiGauge.Row;
import io.micrometer.core.instrument.Tags;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongBinaryOperator;

/**
 * A gauge with labels that come and go, such as the queues that there are. Its rows are put before
 * a scrape; rows with the same labels are merged. For use by one thread at a time.
 */
public final class GaugeTable {
  private final MultiGauge gauge;
  private final double scale;
  private final LongBinaryOperator merge;
  private Map<Tags, Long> rows = new LinkedHashMap<>();

  private GaugeTable(MultiGauge gauge, double scale, LongBinaryOperator merge) {
    this.gauge = gauge;
    this.scale = scale;
    this.merge = merge;
  }

  /** A gauge of counts; those with the same labels are added up. */
  public static GaugeTable counts(MeterRegistry registry, String name, String description) {
    return new GaugeTable(
        MultiGauge.builder(name).description(description).register(registry), 1, Long::sum);
  }

  /** A gauge of ages, put in milliseconds; of those with the same labels the largest is shown. */
  public static GaugeTable ages(MeterRegistry registry, String name, String description) {
    return new GaugeTable(
        MultiGauge.builder(name).description(description).baseUnit("seconds").register(registry),
        0.001,
        Math::max);
  }

  /** Puts a row, by pairs of names and values of labels. */
  public void put(long value, String... labels) {
    rows.merge(Tags.of(labels), value, merge::applyAsLong);
  }

  /** Shows the rows that were put since the last call, and no others. */
  public void show() {
    gauge.register(
        rows.entrySet().stream().map(row -> Row.of(row.getKey(), row.getValue() * scale)).toList(),
        true);
    rows = new LinkedHashMap<>();
  }
}
