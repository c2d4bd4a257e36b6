package io.millrace.cli.terminal;

import java.io.InputStream;
import java.io.PrintStream;
import org.jspecify.annotations.Nullable;

/**
 * Where a command reads and writes.
 *
 * @param in what is typed or piped in
 * @param out for results
 * @param err for all else: progress, warnings and errors
 * @param watched whether somebody looks at {@code err} on a screen, where a line may be drawn again
 * @param screen whether {@code out} is a screen, with colours
 */
public record Terminal(
    InputStream in, PrintStream out, PrintStream err, boolean watched, boolean screen) {
  /** Streams that nobody watches. */
  public Terminal(InputStream in, PrintStream out, PrintStream err) {
    this(in, out, err, false);
  }

  /** Streams of which only {@code err} may be a screen. */
  public Terminal(InputStream in, PrintStream out, PrintStream err, boolean watched) {
    this(in, out, err, watched, false);
  }

  /** The streams of this process; the launcher knows which are screens. */
  public static Terminal system() {
    return new Terminal(
        System.in,
        System.out,
        System.err,
        Boolean.getBoolean("millrace.watched"),
        Boolean.getBoolean("millrace.screen"));
  }

  /** Prints a line to {@code err} after the name of the program. */
  public void say(String line) {
    err.println("millrace: " + line);
  }

  /** Prints a warning as a line of {@code err}; nothing if there is none. */
  public void warn(@Nullable String warning) {
    if (warning != null) {
      say("warning: " + warning);
      err.flush();
    }
  }
}
