package io.millrace.graph.schedule;

import java.nio.file.Path;

/**
 * The limits and the folder of a scheduler.
 *
 * @param folder for the files of attempts, for this scheduler alone; created if absent
 * @param places how many commands run at a time at most, 0 to 10,000; 0 starts none
 * @param others how many attempts that take no place are under way at most, 0 to 1,000,000
 */
public record SchedulerOptions(Path folder, int places, int others) {
  /** The largest number of places. */
  public static final int MAX_PLACES = 10_000;

  /** How many attempts that take no place are under way by default: 10,000. */
  public static final int DEFAULT_OTHERS = 10_000;

  private static final int MAX_OTHERS = 1_000_000;

  /**
   * Checks the numbers.
   *
   * @throws IllegalArgumentException if one is out of its range
   */
  public SchedulerOptions {
    if (places < 0 || places > MAX_PLACES) {
      throw new IllegalArgumentException("there can be 0 to 10000 places, not " + places);
    }
    if (others < 0 || others > MAX_OTHERS) {
      throw new IllegalArgumentException("there can be 0 to 1000000 others, not " + others);
    }
  }
}
