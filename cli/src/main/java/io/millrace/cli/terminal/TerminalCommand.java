package io.millrace.cli.terminal;

import java.io.PrintStream;
import java.util.concurrent.Callable;

/** A command that reads from a terminal and prints to it; its result is the exit code. */
public abstract class TerminalCommand implements Callable<Integer> {
  private Terminal terminal = Terminal.system();

  /** Uses another terminal than that of this process. */
  public final void use(Terminal other) {
    terminal = other;
  }

  /** The terminal of this command. */
  protected final Terminal terminal() {
    return terminal;
  }

  /** Where results go. */
  protected final PrintStream out() {
    return terminal.out();
  }
}
