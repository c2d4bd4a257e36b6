package io.millrace.cli.graph.view;

import io.millrace.cli.terminal.ScreenSize;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * A graph on a screen, drawn again in the same place. What was drawn last stays. For one thread.
 */
public final class LiveTree {
  private static final long SIZE_NANOS = 2_000_000_000L;
  private static final String CLEAR_BELOW = "\033[J";
  private static final String NO_WRAP = "\033[?7l";
  private static final String WRAP = "\033[?7h";

  private final PrintStream out;
  private final Supplier<ScreenSize> screen;
  private final int limit;
  private final Paint paint;
  private ScreenSize size;
  private long askedNanos;
  private int drawn;

  /**
   * Nothing drawn yet.
   *
   * @param screen asks how large the screen is
   * @param limit the most nodes to draw; 0 for as many as fit
   */
  public LiveTree(PrintStream out, Supplier<ScreenSize> screen, int limit) {
    this.out = out;
    this.screen = screen;
    this.limit = limit;
    paint = Paint.on(true);
    size = screen.get();
    askedNanos = System.nanoTime();
  }

  /**
   * Draws the graph as it is.
   *
   * @param nowMillis the time, in milliseconds since 1970
   */
  public void draw(Seen seen, long nowMillis) {
    if (System.nanoTime() - askedNanos > SIZE_NANOS) {
      askedNanos = System.nanoTime();
      size = screen.get();
    }
    // One line for the counts, one for what is missing, one for the cursor.
    int fit = Math.max(1, size.rows() - 3);
    int most = limit == 0 ? fit : Math.min(limit, fit);
    List<String> lines = new ArrayList<>(TreeLines.of(seen.nodes(), most, paint, nowMillis));
    lines.add(seen.summary());
    StringBuilder frame = new StringBuilder();
    if (drawn > 0) {
      frame.append("\033[").append(drawn).append('A');
    }
    // A line that is too long is cut by the terminal, which knows how wide characters are.
    frame.append('\r').append(CLEAR_BELOW).append(NO_WRAP);
    lines.forEach(line -> frame.append(line).append('\n'));
    out.print(frame.append(WRAP));
    out.flush();
    drawn = lines.size();
  }
}
