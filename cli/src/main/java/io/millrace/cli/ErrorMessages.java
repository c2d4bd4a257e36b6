package io.millrace.cli;

import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.UsageException;
import io.millrace.cluster.ClusterException;
import io.millrace.examples.wordcount.WordcountException;
import io.millrace.server.ServerException;
import io.millrace.server.config.ConfigurationException;
import io.millrace.server.config.EditDistance;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.RefusedException;
import io.millrace.store.StoreException;
import io.millrace.store.journal.DamagedJournalException;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** Prints the error message of a command and chooses the exit code. */
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
      // Without a cause, the server has refused the configuration.
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
    List<String> known =
        command.getCommandSpec().options().stream()
            .filter(each -> !each.hidden())
            .flatMap(each -> Arrays.stream(each.names()))
            .toList();
    return Objects.requireNonNullElse(EditDistance.nearest(option, known), "--help");
  }
}
