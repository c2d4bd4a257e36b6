package io.millrace.cli.terminal;

import java.io.PrintStream;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A progress bar on one line, drawn up to ten times a second, and only on a screen. */
public final class ProgressBar implements AutoCloseable {
  private static final int WIDTH = 30;
  private static final long ROUND_NANOS = 100_000_000;
  private static final String START_OF_LINE = "\r\033[K";

  private final PrintStream err;
  private final boolean watched;
  private final String verb;
  private final long beginNanos = System.nanoTime();
  private long drawnNanos = beginNanos - ROUND_NANOS;
  private boolean drawn;

  /**
   * Nothing drawn yet.
   *
   * @param verb what has been done, for example {@code submitted}
   */
  public ProgressBar(Terminal terminal, String verb) {
    err = terminal.err();
    watched = terminal.watched();
    this.verb = verb;
  }

  /**
   * Shows the number that is done.
   *
   * @param total the total number; 0 if unknown
   */
  public void show(long done, long total) {
    long now = System.nanoTime();
    if (isDue(now, done == total)) {
      draw(now, line(done, total, (now - beginNanos) / 1e9));
    }
  }

  /**
   * Shows the progress of a single item.
   *
   * @param percent from 0 to 100; null if unknown
   * @param note what is being done, without control characters; may be empty
   */
  public void show(@Nullable Double percent, String note) {
    long now = System.nanoTime();
    if (!isDue(now, false)) {
      return;
    }
    String share =
        percent == null
            ? ""
            : String.format(
                Locale.ROOT, "%s %.0f %% ", bar((int) (WIDTH * percent / 100)), percent);
    draw(now, share + note);
  }

  private boolean isDue(long now, boolean last) {
    return watched && (last || now - drawnNanos >= ROUND_NANOS);
  }

  private void draw(long now, String line) {
    drawnNanos = now;
    drawn = true;
    err.print(START_OF_LINE + line);
    err.flush();
  }

  private static String bar(int filled) {
    return "[" + "#".repeat(filled) + " ".repeat(WIDTH - filled) + "]";
  }

  private String line(long done, long total, double seconds) {
    String rate = seconds < 1 ? "" : String.format(Locale.ROOT, ", %.0f a second", done / seconds);
    if (total == 0) {
      return done + " " + verb + rate;
    }
    return "%s %d of %d %s%s".formatted(bar((int) (WIDTH * done / total)), done, total, verb, rate);
  }

  /** Clears the line, so that something else can be printed. */
  public void clear() {
    if (drawn) {
      err.print(START_OF_LINE);
      err.flush();
      drawn = false;
    }
  }

  /** Clears the line. */
  @Override
  public void close() {
    clear();
  }
}
