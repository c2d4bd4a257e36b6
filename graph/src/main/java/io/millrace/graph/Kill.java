package io.millrace.graph;

import java.time.Duration;

/**
 * How to end a command.
 *
 * @param signal the name of the signal that is sent first, for example {@code TERM}
 * @param grace when KILL is sent after it to what is left of the process group; zero for at once
 */
public record Kill(String signal, Duration grace) {
  /** TERM, and KILL five seconds later. */
  public static final Kill DEFAULT = new Kill("TERM", Duration.ofSeconds(5));
}
