package io.millrace.cli.graph.view;

import io.millrace.cli.terminal.Table;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Formats a node as one line of text. */
public final class NodeLine {
  private static final double MILLIS = 1_000;
  private static final long MINUTE = 60;
  private static final long HOUR = 60 * MINUTE;
  private static final int LONGEST_REASON = 200;

  private NodeLine() {}

  /**
   * The line for a change of a node: state, id, title, duration and reason. A node that has just
   * started has no duration, which would only show how late the change has arrived.
   *
   * @param nowMillis the time, in milliseconds since 1970
   */
  public static String of(NodeView node, Colours colours, long nowMillis) {
    boolean starts = node.state() == State.RUNNING && !node.killing();
    return head(node, colours, starts ? "" : time(node, nowMillis)) + reason(node);
  }

  /**
   * The line of a node in a tree, with the parents and other relations that the tree does not show.
   */
  static String inTree(NodeView node, Colours colours, long nowMillis) {
    StringBuilder line = new StringBuilder(head(node, colours, time(node, nowMillis)));
    if (!node.place().branch().isEmpty()) {
      line.append(", ").append(Table.printable(node.place().branch()));
    }
    List<Long> parents = node.place().parents();
    if (parents.size() > 1) {
      line.append(", also below ").append(joined(parents.subList(1, parents.size())));
    }
    if (!node.place().after().isEmpty()) {
      line.append(", after ").append(joined(node.place().after()));
    }
    return line.append(reason(node)).toString();
  }

  private static String head(NodeView node, Colours colours, String time) {
    StringBuilder line = new StringBuilder();
    line.append(colours.in(node.state(), String.valueOf(node.state().mark())));
    line.append(' ').append(node.id()).append(' ').append(Table.printable(node.title()));
    String word = node.killing() ? "ending" : node.state().word();
    line.append("  ").append(colours.in(node.state(), word));
    if (!time.isEmpty()) {
      line.append(' ').append(time);
    }
    if (node.attempt() > 1) {
      line.append(", attempt ").append(node.attempt());
    }
    return line.toString();
  }

  private static String joined(Collection<Long> ids) {
    return ids.stream().map(String::valueOf).collect(Collectors.joining(", "));
  }

  /** Empty for an incipient node: its place in the tree shows what it waits for. */
  private static String reason(NodeView node) {
    if (node.reason().isEmpty() || node.state() == State.INCIPIENT) {
      return "";
    }
    String reason = Table.printable(node.reason());
    return ": "
        + (reason.length() > LONGEST_REASON ? reason.substring(0, LONGEST_REASON) + "…" : reason);
  }

  private static String time(NodeView node, long nowMillis) {
    if (node.state() == State.RUNNING && node.started() > 0) {
      return duration(nowMillis - node.started());
    }
    if (node.state().isTerminal() && node.started() > 0 && node.ended() > 0) {
      return duration(node.ended() - node.started());
    }
    boolean later = !node.state().isTerminal() && node.notBefore() > nowMillis;
    return later ? "in " + duration(node.notBefore() - nowMillis) : "";
  }

  /** A duration, for example {@code 0.4s}, {@code 31s}, {@code 5m03s}, {@code 2h07m}. */
  static String duration(long millis) {
    long seconds = Math.max(0, millis) / 1_000;
    if (seconds < 10) {
      return String.format(Locale.ROOT, "%.1fs", Math.max(0, millis) / MILLIS);
    }
    if (seconds < MINUTE) {
      return seconds + "s";
    }
    if (seconds < HOUR) {
      return String.format(Locale.ROOT, "%dm%02ds", seconds / MINUTE, seconds % MINUTE);
    }
    return String.format(Locale.ROOT, "%dh%02dm", seconds / HOUR, seconds % HOUR / MINUTE);
  }

  /** Whether a line has colours. */
  public enum Colours {
    /** For a screen. */
    ON,
    /** For files and pipes. */
    OFF;

    private static final String ESCAPE = "\033[";

    /**
     * Colours on a screen, unless the environment variable {@code NO_COLOR} is set and not empty.
     *
     * @param screen whether it is printed on a screen
     */
    public static Colours on(boolean screen) {
      String unwanted = System.getenv("NO_COLOR");
      return screen && (unwanted == null || unwanted.isEmpty()) ? ON : OFF;
    }

    /** Text in the colour of a state. */
    String in(State state, String text) {
      return this == OFF || state.ansi().isEmpty()
          ? text
          : ESCAPE + state.ansi() + "m" + text + ESCAPE + "0m";
    }
  }
}
