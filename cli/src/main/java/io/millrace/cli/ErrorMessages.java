package io.millrace.cli;

import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.RejectedException;
import io.millrace.client.UnreachableException;
import io.millrace.cluster.ClusterException;
import io.millrace.examples.failover.Failover;
import io.millrace.examples.wordcount.WordcountException;
import io.millrace.server.ServerException;
import io.millrace.server.config.ConfigurationException;
import io.millrace.server.config.EditDistance;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.RefusedException;
import io.millrace.store.StoreException;
import io.millrace.store.environment.FileProblem;
import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.OccupiedException;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** Prints the error message of a command and chooses the exit code. */
final class ErrorMessages implements IExecutionExceptionHandler, IParameterExceptionHandler {
  private static final int UNAUTHORIZED = 401;
  private static final String TOKEN_FILE = "--token-file";
  private static final String API_KEY_FILE = "--api-key-file";
  private static final String SERVER = "--server";
  private static final String CERTIFICATES = "--certificates";
  private static final String FORCE = "--force";
  private static final String PORT = "--port";

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
      case IOException io -> say(FileProblem.text(io));
      case UncheckedIOException io ->
          say(
              io.getCause() == null
                  ? String.valueOf(io.getMessage())
                  : FileProblem.text(io.getCause()));
      case UsageException _,
          CommandException _,
          ServerException _,
          ClusterException _,
          Failover.FailoverException _,
          WordcountException _,
          StoreException _ ->
          say(String.valueOf(e.getMessage()));
      default -> {
        say("unexpected failure, please report it");
        e.printStackTrace(err);
      }
    }
    advise(e, command);
    return exitCode(e);
  }

  /** Says which option may help, if the command has it. */
  private void advise(Exception e, CommandLine command) {
    Throwable cause =
        e instanceof CommandException || e instanceof ClusterException ? e.getCause() : e;
    if (cause instanceof UnreachableException unreachable) {
      if (unreachable.isUntrusted() && has(command, CERTIFICATES)) {
        say(CERTIFICATES + " names a file of certificates to trust; docs/access.md says more");
      } else if (unreachable.isRefused() && has(command, SERVER)) {
        say(
            "is a server running there? 'millrace up' starts one, and %s names another address"
                .formatted(SERVER));
      }
    }
    if (cause instanceof RejectedException rejected
        && rejected.status() == UNAUTHORIZED
        && has(command, TOKEN_FILE)) {
      say(
          "a file with your key is named by %s%s; docs/access.md says how to get one"
              .formatted(TOKEN_FILE, has(command, API_KEY_FILE) ? " or " + API_KEY_FILE : ""));
    }
    if (cause instanceof ServerException server
        && server.getCause() instanceof BindException
        && has(command, PORT)) {
      say(PORT + " chooses another port, and --address another address");
    }
    if (cause instanceof OccupiedException && has(command, FORCE)) {
      say(FORCE + " replaces a store that is there, and keeps other files");
    }
  }

  private static boolean has(CommandLine command, String option) {
    return command.getCommandSpec().findOption(option) != null;
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
    if (!(wrong instanceof UnmatchedArgumentException unmatched)) {
      say(String.valueOf(wrong.getMessage()));
    } else {
      String typed = unmatched.getUnmatched().getFirst();
      say(
          unmatched.isUnknownOption() || command.getSubcommands().isEmpty()
              ? String.valueOf(wrong.getMessage())
              : "there is no command '%s' in '%s'"
                  .formatted(typed, command.getCommandSpec().qualifiedName()));
      String near =
          EditDistance.suggestion(
              typed, unmatched.isUnknownOption() ? options(command) : commands(command));
      if (near != null) {
        String group = command.getCommandSpec().qualifiedName() + " ";
        err.println("Did you mean: " + (unmatched.isUnknownOption() ? "" : group) + near + "?");
      }
    }
    err.println(help(command));
    return ExitCode.USAGE;
  }

  private static String help(CommandLine command) {
    return "Try '" + command.getCommandSpec().qualifiedName() + " --help'.";
  }

  private static List<String> options(CommandLine command) {
    return command.getCommandSpec().options().stream()
        .filter(each -> !each.hidden())
        .flatMap(each -> Arrays.stream(each.names()))
        .toList();
  }

  private static List<String> commands(CommandLine command) {
    return command.getSubcommands().entrySet().stream()
        .filter(each -> !each.getValue().getCommandSpec().usageMessage().hidden())
        .map(Map.Entry::getKey)
        .toList();
  }
}
