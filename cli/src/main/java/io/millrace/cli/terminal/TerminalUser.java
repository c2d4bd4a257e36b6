package io.millrace.cli.terminal;

import java.io.PrintStream;

/** A command, or the options of commands, that reads from a terminal and prints to it. */
public abstract class TerminalUser {
  private Terminal terminal = Terminal.system();

  /** Replaces the terminal of this process. */
  public final void use(Terminal other) {
    terminal = other;
  }

  /** The terminal of the command. */
  public final Terminal terminal() {
    return terminal;
  }

  /** The stream for results. */
  public final PrintStream out() {
    return terminal.out();
  }
}
