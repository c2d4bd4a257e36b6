package io.millrace.cli;

import io.millrace.cli.terminal.ExitCode;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import picocli.CommandLine;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Says what is wrong with a command line: the mistake, what is like it, and how to get help. */
final class Mistakes implements IParameterExceptionHandler {
  private final PrintStream err;

  Mistakes(PrintStream err) {
    this.err = err;
  }

  @Override
  public int handleParseException(ParameterException mistake, String[] args) {
    CommandLine command = mistake.getCommandLine();
    err.println("millrace: " + mistake.getMessage());
    if (mistake instanceof UnmatchedArgumentException unmatched && unmatched.isUnknownOption()) {
      err.println("Did you mean: " + nearest(unmatched.getUnmatched().getFirst(), command) + "?");
      err.println(help(command));
      return ExitCode.USAGE;
    }
    PrintWriter writer = new PrintWriter(err, true, StandardCharsets.UTF_8);
    UnmatchedArgumentException.printSuggestions(mistake, writer);
    writer.flush();
    err.println(help(command));
    return ExitCode.USAGE;
  }

  private static String help(CommandLine command) {
    return "Try '" + command.getCommandSpec().qualifiedName() + " --help'.";
  }

  private static String nearest(String option, CommandLine command) {
    return command.getCommandSpec().options().stream()
        .filter(known -> !known.hidden())
        .flatMap(known -> Arrays.stream(known.names()))
        .min(Comparator.comparingInt(name -> edits(option, name)))
        .orElse("--help");
  }

  /** How many letters to insert, remove or replace to make one word of the other. */
  private static int edits(String a, String b) {
    int[] last = new int[b.length() + 1];
    Arrays.setAll(last, j -> j);
    for (int i = 1; i <= a.length(); i++) {
      int[] row = new int[b.length() + 1];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int same = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
        row[j] = Math.min(Math.min(row[j - 1], last[j]) + 1, last[j - 1] + same);
      }
      last = row;
    }
    return last[b.length()];
  }
}
