package io.millrace.cli.terminal;

import java.io.PrintStream;
import java.util.Locale;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A progress bar on one line with the rate and the time that is left, drawn up to ten times a
 * second, and only on a screen.
 */
public final class ProgressBar implements AutoCloseable {
  private static final int WIDTH = 30;
  private static final long ROUND_NANOS = 100_000_000;

  /** In seconds. Of what takes longer, the time that is left is a guess. */
  private static final double LONGEST_LEFT = 100 * 3_600;

  private static final String START_OF_LINE = "\r\033[K";

  private final PrintStream err;
  private final boolean watched;
  private final String verb;
  private final LongSupplier clock;
  private final long beginNanos;
  private long drawnNanos;
  private boolean drawn;

  /**
   * Nothing drawn yet.
   *
   * @param verb what has been done, for example {@code submitted}
   */
  public ProgressBar(Terminal terminal, String verb) {
    this(terminal, verb, System::nanoTime);
  }

  /** The same with a clock that counts nanoseconds. */
  ProgressBar(Terminal terminal, String verb, LongSupplier clock) {
    err = terminal.err();
    watched = terminal.watched();
    this.verb = verb;
    this.clock = clock;
    beginNanos = clock.getAsLong();
    drawnNanos = beginNanos - ROUND_NANOS;
  }

  /**
   * Shows the number that is done.
   *
   * @param total the total number; 0 if unknown
   */
  public void show(long done, long total) {
    long now = clock.getAsLong();
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
    long now = clock.getAsLong();
    if (!isDue(now, false)) {
      return;
    }
    if (percent == null) {
      draw(now, note);
      return;
    }
    String share =
        String.format(Locale.ROOT, "%s %.0f %%", bar((int) (WIDTH * percent / 100)), percent);
    String said = note.isEmpty() ? "" : " " + note;
    draw(now, share + said + left((now - beginNanos) / 1e9, percent / 100));
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
    String rate = seconds < 1 ? "" : ", " + rate(done / seconds);
    if (total == 0) {
      return done + " " + verb + rate;
    }
    String left = left(seconds, (double) done / total);
    return "%s %d of %d %s%s%s"
        .formatted(bar((int) (WIDTH * done / total)), done, total, verb, rate, left);
  }

  private static String rate(double each) {
    return String.format(Locale.ROOT, each < 10 ? "%.1f a second" : "%.0f a second", each);
  }

  /**
   * How long the rest takes if it goes on like this; nothing in the first second and at the end.
   */
  private static String left(double seconds, double share) {
    if (seconds < 1 || share <= 0 || share >= 1) {
      return "";
    }
    double more = seconds * (1 - share) / share;
    if (more >= LONGEST_LEFT) {
      return "";
    }
    long rest = (long) Math.ceil(more);
    long minutes = rest / 60;
    if (minutes == 0) {
      return ", " + rest + " s left";
    }
    return minutes < 60
        ? ", %d min %d s left".formatted(minutes, rest % 60)
        : ", %d h %d min left".formatted(minutes / 60, minutes % 60);
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
