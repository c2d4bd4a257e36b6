package io.millrace.cli.remote;

import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.TerminalUser;
import io.millrace.client.ClientOptions;
import io.millrace.client.JsonCalls;
import io.millrace.client.RejectedException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** A command that calls a server, with the options for the server and the output format. */
public class ServerCommand extends TerminalUser {
  @Mixin private ServerAddress address = new ServerAddress();

  @Option(names = "--json", description = "Prints JSON.")
  private boolean json;

  /** The same for commands that only read, with {@code --stale}. */
  public static class Reading extends ServerCommand {
    @Mixin private StaleOption stale = new StaleOption();

    @Override
    protected ClientOptions client(ServerAddress options) {
      return stale.of(super.client(options));
    }
  }

  /** The work of a command with a server. */
  @FunctionalInterface
  public interface Call {
    /** Does the work and returns the exit code. */
    int run(JsonCalls calls) throws IOException, InterruptedException;
  }

  /** The work of a command that succeeds unless it throws an exception. */
  @FunctionalInterface
  public interface Action {
    /** Does the work. */
    void perform(JsonCalls calls) throws IOException, InterruptedException;
  }

  /**
   * Connects and runs a command.
   *
   * @return the exit code
   * @throws CommandException with {@link ExitCode#REFUSED} if the server rejects a request
   */
  public final int run(Call call) {
    try (JsonCalls calls = JsonCalls.open(client(address), headers())) {
      return call.run(calls);
    } catch (RejectedException e) {
      int code = isRefusal(e) ? ExitCode.REFUSED : ExitCode.FAILURE;
      throw new CommandException(code, String.valueOf(e.getMessage()), e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommandException(ExitCode.FAILURE, "interrupted", e);
    } finally {
      out().flush();
    }
  }

  /** Connects and runs a command that succeeds unless it throws an exception. */
  public final int perform(Action action) {
    return run(calls -> {
      action.perform(calls);
      return ExitCode.OK;
    });
  }

  /** The options for the server that the command calls. */
  protected ClientOptions client(ServerAddress options) {
    return options.client();
  }

  /** The headers of every request. */
  protected Map<String, String> headers() {
    return Map.of();
  }

  /** A new JSON object. */
  public static ObjectNode object() {
    return JsonNodeFactory.instance.objectNode();
  }

  /**
   * Looks up something by its name.
   *
   * @throws CommandException with {@link ExitCode#NOTHING} if the server refuses the name or does
   *     not know it
   */
  public static <T> T lookUp(Supplier<T> request) {
    try {
      return request.get();
    } catch (RejectedException e) {
      if (isRefusal(e)) {
        throw new CommandException(ExitCode.NOTHING, String.valueOf(e.getMessage()), e);
      }
      throw e;
    }
  }

  /**
   * Makes a request about something with a name.
   *
   * @throws CommandException with {@link ExitCode#NOTHING} if the server does not know the name
   * @throws RejectedException if the server rejects the request for another reason
   */
  public static <T> T orNotFound(Supplier<T> request) {
    try {
      return request.get();
    } catch (RejectedException e) {
      if (e.status() == 404) {
        throw new CommandException(ExitCode.NOTHING, String.valueOf(e.getMessage()), e);
      }
      throw e;
    }
  }

  /** Whether the server has refused the request itself, rather than the credentials. */
  public static boolean isRefusal(RejectedException e) {
    return e.status() != 401 && e.status() != 403 && e.status() < 500;
  }

  /**
   * Makes a call for each name, even after the server has refused one of them, and prints each
   * response as JSON or as one line of text.
   *
   * @param call makes the call for a name
   * @param outcome the text that follows the name in the line
   * @return the highest of the exit codes of all calls
   */
  public final int each(
      List<String> names, Function<String, JsonNode> call, Function<JsonNode, String> outcome) {
    int code = ExitCode.OK;
    for (String name : names) {
      try {
        JsonNode response = call.apply(name);
        print(response, Table.printable(name) + "  " + outcome.apply(response));
      } catch (RejectedException e) {
        if (!isRefusal(e)) {
          throw e;
        }
        terminal().say(Table.printable(String.valueOf(e.getMessage())));
        code = Math.max(code, e.status() == 404 ? ExitCode.NOTHING : ExitCode.REFUSED);
      } catch (CommandException e) {
        terminal().say(Table.printable(String.valueOf(e.getMessage())));
        code = Math.max(code, e.exitCode());
      }
    }
    return code;
  }

  /** Prints a response as JSON or as a table of its fields. */
  public final void printFields(JsonNode response) {
    if (json) {
      out().println(response);
    } else {
      Fields.print(out(), response);
    }
  }

  /** Prints a list as JSON or as a table. */
  public final void printRows(Iterable<JsonNode> rows, Fields.Columns columns) {
    if (json) {
      out().println(rows);
    } else {
      columns.print(out(), rows);
    }
  }

  /** Whether the output is JSON. */
  public final boolean json() {
    return json;
  }

  /** Prints a response as JSON, or else this line. */
  public final void print(JsonNode response, String line) {
    out().println(json ? response.toString() : line);
  }
}
