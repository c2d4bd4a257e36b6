package io.millrace.cli.remote;

import io.millrace.cli.terminal.Durations;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.ProgressBar;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import io.millrace.client.UnreachableException;
import io.millrace.store.StoreClosedException;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * Waits for tasks, jobs or graph nodes to end, up to a window of them at a time, with a progress
 * bar, and prints how each ended. If nothing ends for some seconds, it prints why the first one
 * waits, and again when that changes. Retries for a few seconds if the server is unreachable.
 *
 * @param <S> the final states, in the order of the summary
 */
public abstract class Waiter<S extends Comparable<S>> {
  private static final long WATCHED_ROUND_MILLIS = 1_000;
  private static final long ROUND_MILLIS = 20_000;

  /** How many failures are printed with their details. */
  private static final int MAX_DETAILS = 10;

  private final ServerCommand server;
  private final String kind;
  private final WaitReasons reasons;
  private final Terminal terminal;
  private final long endNanos;
  private final int windowSize;
  private final Map<S, Integer> counts = new TreeMap<>();
  private int ended;
  private int absent;
  private boolean allWell = true;
  private int details;

  /** The option for the longest wait. */
  public static final class Options {
    @Option(
        names = "--timeout",
        paramLabel = "TIME",
        converter = Durations.class,
        description =
            "The longest wait, for example 30s or 5m; then exits with 7. Default: no limit")
    private @Nullable Duration timeout;

    /** When to give up, by {@link System#nanoTime()}; 146 years from now without a timeout. */
    public long endNanos() {
      Duration longest = Duration.ofNanos(Long.MAX_VALUE / 2);
      Duration left = timeout == null || timeout.compareTo(longest) > 0 ? longest : timeout;
      return System.nanoTime() + left.toNanos();
    }
  }

  /**
   * Nothing has ended yet.
   *
   * @param server the server, with the terminal to print to
   * @param kind what they are: {@code task}, {@code job} or {@code node}
   * @param endNanos when to give up, by {@link System#nanoTime()}
   * @param windowSize the maximum number in one request
   */
  protected Waiter(
      ServerCommand server, JsonCalls calls, String kind, long endNanos, int windowSize) {
    this.server = server;
    this.kind = kind;
    reasons = new WaitReasons(calls, kind);
    terminal = server.terminal();
    this.endNanos = endNanos;
    this.windowSize = windowSize;
  }

  /**
   * Waits for all of them and returns the exit code.
   *
   * @param names without duplicates
   */
  public final int until(List<String> names) throws InterruptedException {
    try (ProgressBar bar = new ProgressBar(terminal, "ended")) {
      await(names, bar);
    }
    int pending = names.size() - ended - absent;
    if (names.size() > 1 || pending > 0) {
      terminal.err().println(summary(pending));
    }
    if (absent > 0) {
      return ExitCode.NOTHING;
    }
    if (pending > 0) {
      return ExitCode.TIMED_OUT;
    }
    return allWell ? ExitCode.OK : ExitCode.UNSUCCESSFUL;
  }

  private void await(List<String> names, ProgressBar bar) throws InterruptedException {
    long longest = terminal.watched() ? WATCHED_ROUND_MILLIS : ROUND_MILLIS;
    Set<String> window = new LinkedHashSet<>();
    Retries retries = new Retries();
    int next = 0;
    long left = 1;
    reasons.progressed();
    while (ended + absent < names.size() && left > 0) {
      while (window.size() < windowSize && next < names.size()) {
        window.add(names.get(next++));
      }
      left = TimeUnit.NANOSECONDS.toMillis(endNanos - System.nanoTime());
      try {
        round(window, Math.clamp(Math.min(left, reasons.dueMillis()), 0, longest));
        if (reasons.dueMillis() == 0 && !window.isEmpty()) {
          explain(window.iterator().next(), bar);
        }
        retries.succeeded();
      } catch (UnreachableException | StoreClosedException e) {
        retries.pause(e);
        left = 1;
      }
      if (names.size() > 1 || !showProgress(bar)) {
        bar.show(ended + absent, names.size());
      }
    }
  }

  /** Prints why one of them waits, unless that was printed before. */
  private void explain(String name, ProgressBar bar) {
    reasons
        .ask(name)
        .ifPresent(line -> {
          bar.clear();
          terminal.say(line);
        });
  }

  /**
   * Prints why one of them did not succeed, with the last lines of its output. If many fail, only
   * the first ones are printed.
   *
   * @param reason the reason; may be empty
   * @param output what it wrote, or the end of that
   */
  protected final void failed(String name, String reason, String output) {
    details++;
    if (details > MAX_DETAILS) {
      return;
    }
    if (!reason.isEmpty()) {
      terminal.say(Table.printable(kind + " " + name + ": " + reason));
    }
    WaitReasons.printLastLines(terminal, output);
    if (details == MAX_DETAILS) {
      terminal.say("the reasons of further failures are not printed");
    }
  }

  /** Whether the details of another failure would be printed. */
  protected final boolean wantsDetails() {
    return details < MAX_DETAILS;
  }

  /**
   * Sends one request. Removes from the window what has ended or does not exist, and calls {@link
   * #ended} or {@link #absent} for each.
   *
   * @param waitMillis how long the server may wait until one of them has ended
   */
  protected abstract void round(Set<String> window, long waitMillis);

  /** The command, which prints results. */
  protected final ServerCommand server() {
    return server;
  }

  /** Shows the progress of a single one; false if it is unknown. */
  protected boolean showProgress(ProgressBar bar) {
    return false;
  }

  /** Counts an end. */
  protected final void ended(S state, boolean well) {
    ended++;
    reasons.progressed();
    counts.merge(state, 1, Integer::sum);
    allWell &= well;
  }

  /** Counts one that does not exist and prints a message. */
  protected final void absent(String message) {
    absent++;
    terminal.say(message);
  }

  /** The name of a state, for the summary. */
  protected abstract String word(S state);

  private String summary(int pending) {
    String ends =
        counts.entrySet().stream()
            .map(count -> count.getValue() + " " + word(count.getKey()))
            .collect(Collectors.joining(", "));
    String open = pending == 0 ? "" : pending + " not ended";
    String missing = absent == 0 ? "" : absent + " not there";
    return List.of(open, ends, missing).stream()
        .filter(part -> !part.isEmpty())
        .collect(Collectors.joining(", "));
  }
}
