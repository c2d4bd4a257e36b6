package io.millrace.cli.terminal;

import java.io.InputStream;
import java.io.PrintStream;

/**
 * Where a command reads and writes.
 *
 * @param in what is typed or piped in
 * @param out for results
 * @param err for all else: progress, warnings and errors
 * @param watched whether somebody looks at {@code err} on a screen, where a line may be drawn again
 */
public record Terminal(InputStream in, PrintStream out, PrintStream err, boolean watched) {
  /** Streams that nobody watches. */
  public Terminal(InputStream in, PrintStream out, PrintStream err) {
    this(in, out, err, false);
  }

  /** The streams of this process; the launcher knows whether there is a screen. */
  public static Terminal system() {
    return new Terminal(System.in, System.out, System.err, Boolean.getBoolean("millrace.watched"));
  }
}
