package io.millrace.cli.terminal;

import java.io.InputStream;
import java.io.PrintStream;
import org.jspecify.annotations.Nullable;

/**
 * The standard streams of a command.
 *
 * @param in standard input
 * @param out for results
 * @param err for progress, warnings and errors
 * @param watched whether {@code err} is a screen, so that progress can be drawn
 * @param screen whether {@code out} is a screen
 */
public record Terminal(
    InputStream in, PrintStream out, PrintStream err, boolean watched, boolean screen) {
  /** Streams that are not screens. */
  public Terminal(InputStream in, PrintStream out, PrintStream err) {
    this(in, out, err, false);
  }

  /** Streams of which only {@code err} may be a screen. */
  public Terminal(InputStream in, PrintStream out, PrintStream err, boolean watched) {
    this(in, out, err, watched, false);
  }

  /** The streams of this process; the launcher sets properties for those that are screens. */
  public static Terminal system() {
    return new Terminal(
        System.in,
        System.out,
        System.err,
        Boolean.getBoolean("millrace.watched"),
        Boolean.getBoolean("millrace.screen"));
  }

  /** Prints a line to {@code err}, with the name of the program before it. */
  public void say(String line) {
    err.println("millrace: " + line);
  }

  /** Prints a warning to {@code err}; does nothing if it is null. */
  public void warn(@Nullable String warning) {
    if (warning != null) {
      say("warning: " + warning);
      err.flush();
    }
  }
}
