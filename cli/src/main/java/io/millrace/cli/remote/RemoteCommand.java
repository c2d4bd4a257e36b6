package io.millrace.cli.remote;

import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.TerminalCommand;
import io.millrace.client.ClientOptions;
import io.millrace.client.JsonCalls;
import io.millrace.client.RejectedException;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/**
 * A command that calls a server. What the server does not accept becomes {@link ExitCode#REFUSED},
 * with its own words.
 */
public abstract class RemoteCommand extends TerminalCommand {
  @Mixin private ServerAddress address = new ServerAddress();

  @Option(names = "--json", description = "Prints JSON.")
  private boolean json;

  @Override
  public final Integer call() throws IOException, InterruptedException {
    try (JsonCalls calls = JsonCalls.open(client(address), headers())) {
      return run(calls);
    } catch (RejectedException e) {
      int code = isAboutTheRequest(e) ? ExitCode.REFUSED : ExitCode.FAILURE;
      throw new CommandException(code, String.valueOf(e.getMessage()), e);
    } finally {
      out().flush();
    }
  }

  /** How to reach the server that these options name, or another if they name none. */
  protected ClientOptions client(ServerAddress options) {
    return options.client();
  }

  /** What goes with every request to the server. */
  protected Map<String, String> headers() {
    return Map.of();
  }

  /** Does the work and gives the exit code. */
  protected abstract int run(JsonCalls calls) throws IOException, InterruptedException;

  /**
   * Reads something by its name.
   *
   * @throws CommandException with {@link ExitCode#NOTHING} when the server says that it is not
   *     there
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
   * @throws CommandException with {@link ExitCode#NOTHING} when the server says that it is not
   *     there
   * @throws RejectedException if it says anything else against it
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
   * Acts on each of several things, also after the server has refused one of them.
   *
   * @return the exit code: the worst of all
   */
  protected final int each(JsonCalls calls, List<String> names, Consumer<String> action) {
    int code = ExitCode.OK;
    for (String name : names) {
      try {
        action.accept(name);
      } catch (RejectedException e) {
        if (!isAboutTheRequest(e)) {
          throw e;
        }
        terminal().say(Table.printable(refusal(name, e)));
        code = Math.max(code, isAbsent(calls, name, e) ? ExitCode.NOTHING : ExitCode.REFUSED);
      }
    }
    return code;
  }

  /** What to print about one of several things that the server has refused. */
  protected String refusal(String name, RejectedException e) {
    return String.valueOf(e.getMessage());
  }

  /** Whether the server has refused one of several things because it is not there. */
  protected boolean isAbsent(JsonCalls calls, String name, RejectedException e) {
    return e.status() == 404;
  }

  /** Prints what a server has answered, as JSON or as a table of its fields. */
  protected final void printFields(JsonNode answer) {
    if (json) {
      out().println(answer);
    } else {
      Fields.print(out(), answer);
    }
  }

  /** Whether JSON is wanted. */
  protected final boolean json() {
    return json;
  }

  /** Prints the JSON, if it is wanted, or else a line for people. */
  protected final void print(JsonNode answer, String line) {
    out().println(json ? answer.toString() : line);
  }
}
