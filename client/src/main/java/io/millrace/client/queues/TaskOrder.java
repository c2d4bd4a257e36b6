package io.millrace.client.queues;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

/**
 * How tasks are submitted. Immutable.
 *
 * @param settings the parameters of {@code POST /dci/tasks/QUEUE} by name
 */
public record TaskOrder(Map<String, String> settings) {
  /** At once, with the settings of the queue. */
  public static final TaskOrder DEFAULT = new TaskOrder(Map.of());

  /** Copies the settings. */
  public TaskOrder {
    settings = Map.copyOf(settings);
  }

  /**
   * The same with a setting, for example {@code attempts}, {@code retry_delay}, {@code timeout} or
   * {@code key}. The server refuses tasks with an unknown or invalid one.
   */
  public TaskOrder with(String setting, String value) {
    Map<String, String> all = new HashMap<>(settings);
    all.put(setting, value);
    return new TaskOrder(all);
  }

  /** The same, not before this time has passed. */
  public TaskOrder withDelay(Duration delay) {
    return with("delay", delay.toMillis() + "ms");
  }

  /** The same, not before this moment. */
  public TaskOrder withStart(Instant start) {
    return with("at", start.toString());
  }

  /** The same with a key: as long as a task holds it, another submission makes no task. */
  public TaskOrder withUnique(String key) {
    return with("unique", key);
  }

  /** The same with a level of priority, from 0 to 9. */
  public TaskOrder withPriority(int level) {
    return with("priority", Integer.toString(level));
  }
}
