package io.millrace.cluster.simulation;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** The resource that a lock protects. It checks how processes use it. */
final class Resource {
  private final Map<Host, Long> inside = new LinkedHashMap<>();
  private final Set<Long> fences = new HashSet<>();
  private long largestWritten;
  private int writes;
  private int refused;

  /** Records that a process has acquired the lock. */
  void taken(long fence) {
    require(fences.add(fence), "a holder has an old fence: " + fence + " was given twice");
  }

  /** Records that a process is inside the guard from now on. */
  void enter(Host host) {
    inside.keySet().removeIf(Host::isGone);
    for (Map.Entry<Host, Long> other : inside.entrySet()) {
      boolean wasPaused = other.getKey().pauses() > other.getValue();
      require(wasPaused, "two are inside the guard, and neither has stood still");
    }
    inside.put(host, host.pauses());
  }

  void leave(Host host) {
    inside.remove(host);
  }

  /** A write with a fencing token, by a process inside the guard. */
  void write(Host host, long fence) {
    if (fence < largestWritten) {
      Long before = inside.get(host);
      require(
          before != null && host.pauses() > before,
          "a write comes too late of somebody who has not stood still");
      refused++;
    } else {
      largestWritten = fence;
      writes++;
    }
  }

  int writes() {
    return writes;
  }

  int refused() {
    return refused;
  }

  static void require(boolean condition, String message) {
    if (!condition) {
      throw new AssertionError(message);
    }
  }
}
