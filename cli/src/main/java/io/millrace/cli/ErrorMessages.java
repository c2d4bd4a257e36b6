package io.millrace.cli;

import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.UsageException;
import io.millrace.cluster.ClusterException;
import io.millrace.examples.failover.Failover;
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
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
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
      case IOException io -> say(text(io));
      case UncheckedIOException io ->
          say(io.getCause() == null ? String.valueOf(io.getMessage()) : text(io.getCause()));
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
          nearest(typed, unmatched.isUnknownOption() ? options(command) : commands(command));
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

  /** What was probably meant; null if nothing is like it. */
  private static @Nullable String nearest(String typed, List<String> known) {
    String near = EditDistance.nearest(typed, known);
    boolean alike =
        near != null
            && (near.startsWith(typed)
                || EditDistance.between(typed, near) <= Math.max(1, typed.length() / 3));
    return alike ? near : null;
  }

  /** What went wrong with a file, without names of classes. */
  private static String text(IOException e) {
    String reason =
        switch (e) {
          case NoSuchFileException _ -> "there is no such file or folder";
          case AccessDeniedException _ -> "this user may not use it";
          case FileAlreadyExistsException _ -> "it exists already";
          case NotDirectoryException _ -> "it is not a folder";
          case DirectoryNotEmptyException _ -> "it is not empty";
          case FileSystemException file -> file.getReason();
          default -> null;
        };
    if (reason != null && e instanceof FileSystemException file && file.getFile() != null) {
      return file.getFile() + ": " + reason;
    }
    return e.getMessage() == null ? "a file or connection failed" : e.getMessage();
  }
}
