package io.millrace.cli;

import io.millrace.cli.terminal.ExitCode;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
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
    PrintWriter writer = new PrintWriter(err, true, StandardCharsets.UTF_8);
    UnmatchedArgumentException.printSuggestions(mistake, writer);
    writer.flush();
    err.println("Try '" + command.getCommandSpec().qualifiedName() + " --help'.");
    return ExitCode.USAGE;
  }
}
