package io.millrace.cluster.simulation;

import java.util.HashMap;
import java.util.Map;

/** The output of tasks. For each task, it refuses a smaller fence after a larger one. */
final class Output {
  private final Map<String, Long> fences = new HashMap<>();
  private int refused;

  boolean write(String task, long fence) {
    Long before = fences.get(task);
    if (before != null && fence <= before) {
      refused++;
      return false;
    }
    fences.put(task, fence);
    return true;
  }

  boolean has(String task) {
    return fences.containsKey(task);
  }

  int refused() {
    return refused;
  }
}
