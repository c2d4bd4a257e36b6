package io.millrace.server.metrics;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A counter with one label whose values are counted elsewhere, such as limits. What was shown once
 * stays until the server stops. For use by one thread at a time.
 */
public final class CounterTable {
  private final MeterRegistry registry;
  private final String name;
  private final String description;
  private final String label;
  private final SeriesLabels labels = new SeriesLabels();
  private final Map<String, AtomicLong> counts = new ConcurrentHashMap<>();

  /** A counter without values yet. */
  public CounterTable(MeterRegistry registry, String name, String description, String label) {
    this.registry = registry;
    this.name = name;
    this.description = description;
    this.label = label;
  }

  /**
   * Shows these counts since the server started; of values beyond the bound of {@link SeriesLabels}
   * their sum.
   */
  public void show(Map<String, Long> now) {
    Map<String, Long> sums = new ConcurrentHashMap<>();
    now.forEach((value, count) -> sums.merge(labels.of(value), count, Long::sum));
    sums.forEach((value, sum) -> counts.computeIfAbsent(value, this::register).set(sum));
  }

  private AtomicLong register(String value) {
    AtomicLong count = new AtomicLong();
    FunctionCounter.builder(name, count, AtomicLong::get)
        .description(description)
        .tag(label, value)
        .register(registry);
    return count;
  }
}
