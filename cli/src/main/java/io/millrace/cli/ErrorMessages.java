package io.millrace.cli;

import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.UsageException;
import io.millrace.cluster.ClusterException;
import io.millrace.examples.wordcount.WordcountException;
import io.millrace.server.ServerException;
import io.millrace.server.config.ConfigurationException;
import io.millrace.store.Reason;
import io.millrace.store.RefusedException;
import io.millrace.store.StoreException;
import io.millrace.store.journal.DamagedJournalException;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Prints why a command failed, or what is wrong with a command line and how to get help, and
 * chooses the exit code.
 */
final class ErrorMessages implements IExecutionExceptionHandler, IParameterExceptionHandler {
  private final PrintStream err;

  ErrorMessages(PrintStream err) {
    this.err = err;
  }

  @Override
  public int handleExecutionException(Exception e, CommandLine command, ParseResult parsed) {
    switch (e) {
      case RefusedException refused -> {
        for (Reason reason : refused.refused().reasons()) {
          say("refused: " + reason.message());
        }
      }
      case DamagedJournalException damage -> {
        say(String.valueOf(damage.getMessage()));
        say("docs/journal-damage.md says what to do; nothing has been changed");
      }
      case IOException io -> say(io.toString());
      case UncheckedIOException io -> say(String.valueOf(io.getCause()));
      case UsageException _,
          CommandException _,
          ServerException _,
          ClusterException _,
          WordcountException _,
          StoreException _ ->
          say(String.valueOf(e.getMessage()));
      default -> {
        say("unexpected failure, please report it");
        e.printStackTrace(err);
      }
    }
    return exitCode(e);
  }

  private void say(String message) {
    err.println("millrace: " + message);
  }

  private static int exitCode(Exception e) {
    return switch (e) {
      case CommandException command -> command.exitCode();
      case UsageException _, ConfigurationException _ -> ExitCode.USAGE;
      case RefusedException _ -> ExitCode.REFUSED;
      case DamagedJournalException _ -> ExitCode.DAMAGED;
      // Without an underlying failure it is the configuration that the server does not accept.
      case ServerException server when server.getCause() == null -> ExitCode.USAGE;
      default -> ExitCode.FAILURE;
    };
  }

  @Override
  public int handleParseException(ParameterException wrong, String[] args) {
    CommandLine command = wrong.getCommandLine();
    err.println("millrace: " + wrong.getMessage());
    if (wrong instanceof UnmatchedArgumentException unmatched && unmatched.isUnknownOption()) {
      err.println("Did you mean: " + nearest(unmatched.getUnmatched().getFirst(), command) + "?");
      err.println(help(command));
      return ExitCode.USAGE;
    }
    PrintWriter writer = new PrintWriter(err, true, StandardCharsets.UTF_8);
    UnmatchedArgumentException.printSuggestions(wrong, writer);
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
