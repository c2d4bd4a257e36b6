package io.millrace.cli.manual;

import io.millrace.cli.terminal.TerminalUser;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Prints a script for shells. */
@Command(
    name = "completion",
    description =
        "Prints a script with which bash and zsh complete commands and options of millrace. Print"
            + " it again after an upgrade.")
public final class CompletionCommand extends TerminalUser implements Callable<Integer> {
  private final Supplier<CommandLine> program;

  /**
   * A command that prints the script of this program.
   *
   * @param program makes the program with all its commands
   */
  public CompletionCommand(Supplier<CommandLine> program) {
    this.program = program;
  }

  @Override
  public Integer call() {
    out().print(script(program.get()));
    out().flush();
    return CommandLine.ExitCode.OK;
  }

  /** The script for a program with all its commands. */
  public static String script(CommandLine program) {
    return AutoComplete.bash("millrace", program);
  }
}
