package io.millrace.cli.graph.view;

import java.util.Locale;

/** The state of a graph node, and how it is shown. */
public enum State {
  /** A node that it waits for has not ended. */
  INCIPIENT('·', "2", "#eceff1", "#90a4ae"),
  /** It may start. */
  READY('○', "36", "#e0f7fa", "#00838f"),
  /** It has started. */
  RUNNING('●', "1;34", "#bbdefb", "#1565c0"),
  /** It succeeded. */
  FINISHED('✓', "32", "#c8e6c9", "#2e7d32"),
  /** It failed. */
  FAILED('✗', "31", "#ffcdd2", "#c62828"),
  /** It was killed. */
  KILLED('†', "35", "#e1bee7", "#6a1b9a"),
  /** It is on a branch that was not chosen. */
  SKIPPED('-', "2", "#fafafa", "#8a8a8a"),
  /** A node that it waits for failed or was killed. */
  BLOCKED('!', "33", "#fff3c4", "#b28704"),
  /** A state that this program does not know. */
  UNKNOWN('?', "", "#ffffff", "#000000");

  private final char mark;
  private final String ansi;
  private final String fill;
  private final String line;

  State(char mark, String ansi, String fill, String line) {
    this.mark = mark;
    this.ansi = ansi;
    this.fill = fill;
    this.line = line;
  }

  /** The state with this name in the API; {@link #UNKNOWN} if there is none. */
  public static State of(String word) {
    for (State state : values()) {
      if (state.word().equals(word)) {
        return state;
      }
    }
    return UNKNOWN;
  }

  /** The name in the API. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The character that stands for it. */
  char mark() {
    return mark;
  }

  /** The parameters of a terminal's colour; empty for none. */
  String ansi() {
    return ansi;
  }

  /** The colour of a box in a diagram, as {@code #rrggbb}. */
  String fill() {
    return fill;
  }

  /** The colour of that box's border. */
  String line() {
    return line;
  }

  /** Whether a node has ended. */
  public boolean isTerminal() {
    return this == FINISHED || this == FAILED || this == KILLED || this == SKIPPED;
  }

  /** Whether a node has ended or is blocked. */
  public boolean isSettled() {
    return isTerminal() || this == BLOCKED;
  }

  /** Whether a node has finished or was skipped. */
  public boolean isSuccessful() {
    return this == FINISHED || this == SKIPPED;
  }

  /** The order in which nodes are shown if there is no room for all; lower numbers come first. */
  int urgency() {
    return switch (this) {
      case RUNNING -> 0;
      case FAILED, KILLED, UNKNOWN -> 1;
      case READY -> 2;
      case BLOCKED, INCIPIENT -> 3;
      case FINISHED, SKIPPED -> 4;
    };
  }
}
