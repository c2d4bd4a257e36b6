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

/** A command that calls a server: its options for the server and for the form of the output. */
public class Remote extends TerminalUser {
  @Mixin private ServerAddress address = new ServerAddress();

  @Option(names = "--json", description = "Prints JSON.")
  private boolean json;

  /** What a command does with a server. */
  @FunctionalInterface
  public interface Action {
    /** Returns the exit code. */
    int run(JsonCalls calls) throws IOException, InterruptedException;
  }

  /** A command that succeeds unless it throws an exception. */
  @FunctionalInterface
  public interface Deed {
    /** Does it. */
    void perform(JsonCalls calls) throws IOException, InterruptedException;
  }

  /**
   * Connects and runs a command.
   *
   * @return the exit code
   * @throws CommandException with {@link ExitCode#REFUSED} if the server rejects a request
   */
  public final int run(Action action) {
    try (JsonCalls calls = JsonCalls.open(client(address), headers())) {
      return action.run(calls);
    } catch (RejectedException e) {
      int code = isAboutTheRequest(e) ? ExitCode.REFUSED : ExitCode.FAILURE;
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

  /** A command that succeeds unless it throws an exception. */
  public final int perform(Deed deed) {
    return run(calls -> {
      deed.perform(calls);
      return ExitCode.OK;
    });
  }

  /** How to reach the server that these options name, or another if they name none. */
  protected ClientOptions client(ServerAddress options) {
    return options.client();
  }

  /** What goes with every request to the server. */
  protected Map<String, String> headers() {
    return Map.of();
  }

  /** An empty object, to be filled and sent. */
  public static ObjectNode object() {
    return JsonNodeFactory.instance.objectNode();
  }

  /**
   * Reads something by its name.
   *
   * @throws CommandException with {@link ExitCode#NOTHING} if the server finds nothing of that name
   */
  public static <T> T named(Supplier<T> look) {
    try {
      return look.get();
    } catch (RejectedException e) {
      if (isAboutTheRequest(e)) {
        throw new CommandException(ExitCode.NOTHING, String.valueOf(e.getMessage()), e);
      }
      throw e;
    }
  }

  /**
   * Does something with what was named.
   *
   * @throws CommandException with {@link ExitCode#NOTHING} if the server answers 404
   * @throws RejectedException if the server rejects the request for another reason
   */
  public static <T> T thereOrRefused(Supplier<T> deed) {
    try {
      return deed.get();
    } catch (RejectedException e) {
      if (e.status() == 404) {
        throw new CommandException(ExitCode.NOTHING, String.valueOf(e.getMessage()), e);
      }
      throw e;
    }
  }

  /** Whether the server rejects the request itself, and not the credentials, and has not failed. */
  public static boolean isAboutTheRequest(RejectedException e) {
    return e.status() != 401 && e.status() != 403 && e.status() < 500;
  }

  /**
   * Makes a call for each of several things, also after the server has refused one of them, and
   * prints each answer as JSON or as a line for people.
   *
   * @param call makes the call for a name
   * @param outcome what the line says behind the name
   * @return the exit code: the worst of all
   */
  public final int each(
      List<String> names, Function<String, JsonNode> call, Function<JsonNode, String> outcome) {
    int code = ExitCode.OK;
    for (String name : names) {
      try {
        JsonNode answer = call.apply(name);
        print(answer, Table.printable(name) + "  " + outcome.apply(answer));
      } catch (RejectedException e) {
        if (!isAboutTheRequest(e)) {
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

  /** Prints what a server has answered, as JSON or as a table of its fields. */
  public final void printFields(JsonNode answer) {
    if (json) {
      out().println(answer);
    } else {
      Fields.print(out(), answer);
    }
  }

  /** Prints a list that a server has answered, as JSON or as a table. */
  public final void printRows(Iterable<JsonNode> rows, Fields.Columns columns) {
    if (json) {
      out().println(rows);
    } else {
      columns.print(out(), rows);
    }
  }

  /** Whether JSON is wanted. */
  public final boolean json() {
    return json;
  }

  /** Prints the JSON, if it is wanted, or else a line for people. */
  public final void print(JsonNode answer, String line) {
    out().println(json ? answer.toString() : line);
  }
}
