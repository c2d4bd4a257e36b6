package io.millrace.queues.node;

import java.util.HashMap;
import java.util.Map;

/**
 * Limits as they were set. A claim precedes its record by a moment in which a limit may fall, so
 * the one before counts for a second still; what runs already is not ended by a limit that falls.
 */
final class LimitHistory {
  private static final long MOMENT_MILLIS = 1_000;

  private record Limit(int now, int before, long sinceMillis) {}

  private final Map<String, Limit> limits = new HashMap<>();

  void set(String what, int limit, long nowMillis) {
    Limit old = limits.getOrDefault(what, new Limit(limit, limit, nowMillis));
    if (old.now() != limit) {
      limits.put(what, new Limit(limit, old.now(), nowMillis));
    } else {
      limits.putIfAbsent(what, old);
    }
  }

  int highestLately(String what, long nowMillis) {
    Limit limit = limits.getOrDefault(what, new Limit(0, 0, nowMillis));
    return nowMillis - limit.sinceMillis() <= MOMENT_MILLIS
        ? Math.max(limit.now(), limit.before())
        : limit.now();
  }
}
