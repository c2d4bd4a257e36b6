package io.millrace.cli.remote;

import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Commands under one name, each with a list of its exit codes. */
@Command
public final class CommandGroup implements Runnable {
  private static final Map<String, String> EXIT_CODES =
      Map.of(
          "0", "done",
          "1",
              "failed: for example the server cannot be reached, the token is wrong, or the outcome"
                  + " is unknown",
          "2", "the command line or an input file is wrong",
          "3", "refused by the server",
          "4", "what was named does not exist");

  @Spec private CommandSpec spec = CommandSpec.create();

  private CommandGroup() {}

  /** A group of commands on a server, without other exit codes than all of these have. */
  public static CommandLine of(String name, String description, Object... commands) {
    CommandLine group = new CommandLine(new CommandGroup());
    group.setCommandName(name);
    group.getCommandSpec().usageMessage().description(description);
    add(group, Map.of(), commands);
    return group;
  }

  /**
   * Adds commands.
   *
   * @param exitCodes those that they have besides the usual ones, or with another meaning
   */
  public static void add(CommandLine group, Map<String, String> exitCodes, Object... commands) {
    for (Object command : commands) {
      CommandLine line = new CommandLine(command);
      explain(line, exitCodes);
      group.addSubcommand(line);
    }
  }

  /** Adds a command whose class has no name of its own. */
  public static void add(CommandLine group, String name, String description, Object command) {
    CommandLine line = new CommandLine(command);
    line.getCommandSpec().usageMessage().description(description);
    explain(line, Map.of());
    group.addSubcommand(name, line);
  }

  /** Lists the exit codes in the help of a command. */
  public static void explain(CommandLine command, Map<String, String> exitCodes) {
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
