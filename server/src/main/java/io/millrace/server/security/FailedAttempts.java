package io.millrace.server.security;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Slows down guessing: after a number of wrong credentials from one source, further ones are not
 * checked for a while, which doubles with each failure up to a limit. A source is forgotten some
 * time after its last failure. The same wrong credentials again are not another guess, so a program
 * with an old key does not lock out others at its address. Knows a limited number of sources; the
 * one with the oldest failure goes first. Safe for use by threads; time is passed in.
 *
 * @param <S> what identifies a source, for example an address
 */
final class FailedAttempts<S> {
  private static final int MAX_SOURCES = 10_000;
  private static final int REMEMBERED = 4;
  private static final long FIRST_WAIT_MILLIS = 1_000;
  private static final long FORGET_MILLIS = Duration.ofMinutes(15).toMillis();

  private final int free;
  private final long longestMillis;
  private final Map<S, Source> sources = new LinkedHashMap<>(16, 0.75f, true);

  /**
   * Without failures.
   *
   * @param free how many failures have no consequence
   * @param longest the longest time for which a source is refused
   */
  FailedAttempts(int free, Duration longest) {
    this.free = free;
    this.longestMillis = longest.toMillis();
  }

  /** The failures of one source. */
  private static final class Source {
    private final long[] guesses = new long[REMEMBERED];
    private int count;
    private long lastMillis;
    private long untilMillis;

    /** Whether these credentials were not among the last wrong ones. */
    boolean isNew(long guess) {
      for (int i = 0; i < Math.min(count, REMEMBERED); i++) {
        if (guesses[i] == guess) {
          return false;
        }
      }
      guesses[count % REMEMBERED] = guess;
      return true;
    }
  }

  /**
   * For how long credentials of a source are not checked.
   *
   * @param nowMillis the time by a clock that does not go back
   * @return 0 if they are checked
   */
  synchronized long waitMillis(S source, long nowMillis) {
    Source known = sources.isEmpty() ? null : sources.get(source);
    return known == null ? 0 : Math.max(0, known.untilMillis - nowMillis);
  }

  /**
   * Counts wrong credentials.
   *
   * @param guess a digest of them
   */
  synchronized void failed(S source, long guess, long nowMillis) {
    Source known = sources.get(source);
    if (known == null || nowMillis - known.lastMillis > FORGET_MILLIS) {
      known = new Source();
      sources.put(source, known);
      if (sources.size() > MAX_SOURCES) {
        var oldest = sources.entrySet().iterator();
        var _ = oldest.next();
        oldest.remove();
      }
    }
    if (!known.isNew(guess)) {
      return;
    }
    known.count++;
    known.lastMillis = nowMillis;
    if (known.count > free) {
      int doublings = Math.min(30, known.count - free - 1);
      known.untilMillis = nowMillis + Math.min(longestMillis, FIRST_WAIT_MILLIS << doublings);
    }
  }

  /** Forgets the failures of a source that has shown right credentials. */
  synchronized void succeeded(S source) {
    if (!sources.isEmpty()) {
      sources.remove(source);
    }
  }

  synchronized int size() {
    return sources.size();
  }
}
