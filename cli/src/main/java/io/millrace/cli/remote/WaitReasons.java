package io.millrace.cli.remote;

import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import io.millrace.client.RejectedException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.JsonNode;

/**
 * Says to whoever waits why nothing happens: three seconds after the last progress, and every ten
 * seconds after that if the reasons have changed. For one thread.
 */
public final class WaitReasons {
  private static final long FIRST_NANOS = TimeUnit.SECONDS.toNanos(3);
  private static final long AGAIN_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** How many lines and characters of output are printed for a failure. */
  private static final int LAST_LINES = 10;

  private static final int LAST_CHARS = 4_096;

  private final JsonCalls calls;
  private final String kind;

  /** When the server is asked next, by {@link System#nanoTime()}. */
  private long dueNanos = System.nanoTime() + FIRST_NANOS;

  /** The reasons that were given last; empty for none. */
  private String last = "";

  /**
   * There is progress now.
   *
   * @param kind what is waited for: {@code task}, {@code job} or {@code node}
   */
  public WaitReasons(JsonCalls calls, String kind) {
    this.calls = calls;
    this.kind = kind;
  }

  /** Takes note of progress. */
  public void progressed() {
    dueNanos = System.nanoTime() + FIRST_NANOS;
  }

  /** How long until the server is to be asked, in milliseconds; 0 for now. */
  public long dueMillis() {
    return Math.ceilDiv(Math.max(0, dueNanos - System.nanoTime()), 1_000_000L);
  }

  /**
   * Asks the server why one of them waits.
   *
   * @param name its id or key
   * @return a line for people; empty if it does not wait, the caller may not ask, or the reasons
   *     are those that were given last
   */
  public Optional<String> ask(String name) {
    dueNanos = System.nanoTime() + AGAIN_NANOS;
    JsonNode why;
    try {
      why = calls.get(WhyCommand.path(name, kind));
    } catch (RejectedException _) {
      // It has ended meanwhile, or the caller may not ask.
      return Optional.empty();
    }
    List<String> all = new ArrayList<>();
    if (why.path("waiting").asBoolean()) {
      why.path("reasons").forEach(reason -> all.add(reason.path("message").asString()));
    }
    String now = String.join("; ", all);
    boolean isNew = !now.isEmpty() && !now.equals(last);
    last = now;
    return isNew
        ? Optional.of(Table.printable(kind + " " + name + " waits: " + now))
        : Optional.empty();
  }

  /** Prints the last ten lines of what something wrote that has failed. */
  public static void printLastLines(Terminal terminal, String output) {
    String end = output.substring(Math.max(0, output.length() - LAST_CHARS));
    List<String> lines = end.lines().toList();
    for (String line : lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size())) {
      terminal.err().println("  " + Table.printable(line));
    }
  }
}
