package io.millrace.cli.terminal;

import java.io.InputStream;
import java.io.PrintStream;

/**
 * Where a command reads and writes.
 *
 * @param in what is typed or piped in
 * @param out for results
 * @param err for all else: progress, warnings and errors
 */
public record Terminal(InputStream in, PrintStream out, PrintStream err) {
  /** The streams of this process. */
  public static Terminal system() {
    return new Terminal(System.in, System.out, System.err);
  }
}
