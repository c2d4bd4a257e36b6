package io.millrace.cli.graph.view;

/** Colours, where they can be seen. */
public enum Paint {
  /** For a screen. */
  COLOURS,
  /** For files and pipes. */
  PLAIN;

  private static final String ESCAPE = "\033[";

  /**
   * Colours unless nobody sees them or the environment's {@code NO_COLOR} is set to something.
   *
   * @param screen whether it is printed on a screen
   */
  public static Paint on(boolean screen) {
    String unwanted = System.getenv("NO_COLOR");
    return screen && (unwanted == null || unwanted.isEmpty()) ? COLOURS : PLAIN;
  }

  /** Text in the colour of a state. */
  String in(State state, String text) {
    return this == PLAIN || state.ansi().isEmpty()
        ? text
        : ESCAPE + state.ansi() + "m" + text + ESCAPE + "0m";
  }
}
