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
import java.io.UncheckedIOException;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.ParseResult;

/** Says in one line why a command failed, and with which exit code. */
final class Failures implements IExecutionExceptionHandler {
  private final PrintStream err;

  Failures(PrintStream err) {
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
}
