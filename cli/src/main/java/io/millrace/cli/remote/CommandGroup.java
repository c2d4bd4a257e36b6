package io.millrace.cli.remote;

import io.millrace.cli.terminal.TerminalUser;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A group of commands, for example {@code millrace jobs}, with a list of exit codes for each. */
public abstract class CommandGroup extends TerminalUser implements Runnable {
  private static final Map<String, String> EXIT_CODES =
      Map.of(
          "0", "done",
          "1",
              "failed: for example the server cannot be reached, the token is wrong, or the outcome"
                  + " is unknown",
          "2", "the command line or an input file is wrong",
          "3", "refused by the server",
          "4", "something that was named does not exist");

  @Spec private CommandSpec spec = CommandSpec.create();

  /** A group of commands with the usual exit codes; see {@link #add}. */
  protected final CommandLine with(Object... commands) {
    CommandLine group = new CommandLine(this);
    add(group, Map.of(), commands);
    return group;
  }

  /**
   * Adds commands in this order.
   *
   * @param exitCodes exit codes in addition to the usual ones, or with another meaning
   * @param commands command objects, or names of methods of the group
   */
  protected final void add(CommandLine group, Map<String, String> exitCodes, Object... commands) {
    for (Object command : commands) {
      Object one =
          command instanceof String method
              ? CommandLine.getCommandMethods(getClass(), method).getFirst()
              : command;
      CommandLine line = new CommandLine(one);
      explain(line, exitCodes);
      group.addSubcommand(line);
    }
  }

  /** Lists the exit codes in the help of a command. */
  protected static void explain(CommandLine command, Map<String, String> exitCodes) {
    Map<String, String> codes = new TreeMap<>(EXIT_CODES);
    codes.putAll(exitCodes);
    command
        .getCommandSpec()
        .usageMessage()
        .exitCodeListHeading("%nExit codes:%n")
        .exitCodeList(codes);
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "a command is missing");
  }
}
