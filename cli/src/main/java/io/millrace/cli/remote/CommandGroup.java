package io.millrace.cli.remote;

import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Commands on a server under one name. */
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

  /** A group without commands yet. */
  public static CommandLine of(String name, String description) {
    CommandLine group = new CommandLine(new CommandGroup());
    group.setCommandName(name);
    group.getCommandSpec().usageMessage().description(description);
    return group;
  }

  /** Adds a command, explaining the exit codes that all have and these. */
  public static void add(CommandLine group, Object command, Map<String, String> moreExitCodes) {
    CommandLine line = new CommandLine(command);
    Map<String, String> codes = new TreeMap<>(EXIT_CODES);
    codes.putAll(moreExitCodes);
    line.getCommandSpec().usageMessage().exitCodeListHeading("%nExit codes:%n").exitCodeList(codes);
    group.addSubcommand(line);
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "a command is missing");
  }
}
