package io.millrace.processes;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** A signal that a program can be sent, by the names that every POSIX system has. */
public enum Signal {
  /** The terminal is gone; many programs read their configuration anew. */
  HUP,
  /** As by Ctrl-C. */
  INT,
  /** As by Ctrl-\. */
  QUIT,
  /** Ends at once; a program cannot catch it. */
  KILL,
  /** What the program makes of it. */
  USR1,
  /** What the program makes of it. */
  USR2,
  /** A pipe that nobody reads. */
  PIPE,
  /** A clock has run out. */
  ALRM,
  /** Asks to end. */
  TERM,
  /** Continues. */
  CONT,
  /** Stops; a program cannot catch it. */
  STOP,
  /** Stops, as by Ctrl-Z. */
  TSTP;

  /** The signal of a name, as in {@code TERM}, {@code term} or {@code SIGTERM}. */
  public static Optional<Signal> of(String name) {
    String upper = name.toUpperCase(Locale.ROOT);
    String bare = upper.startsWith("SIG") ? upper.substring(3) : upper;
    return Arrays.stream(values()).filter(signal -> signal.name().equals(bare)).findFirst();
  }

  /** All names, separated by commas, for messages. */
  public static String all() {
    return Arrays.stream(values()).map(Signal::name).collect(Collectors.joining(", "));
  }
}
