package io.millrace.cli.tasks;

import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** The params of tasks to submit, one after the other. */
interface ParamsSource extends Closeable {
  /**
   * The next params, which are not empty; null at the end.
   *
   * @throws CommandException when what is to be read is malformed; the message names the line
   */
  @Nullable ObjectNode next() throws IOException;

  /** Says what is wrong at a line. */
  static CommandException malformed(String name, long line, String what) {
    return new CommandException(ExitCode.USAGE, name + " line " + line + ": " + what);
  }

  /** One task's params. */
  static ParamsSource of(ObjectNode params) {
    return new ParamsSource() {
      private @Nullable ObjectNode left = params;

      @Override
      public @Nullable ObjectNode next() {
        ObjectNode next = left;
        left = null;
        return next;
      }

      @Override
      public void close() {
        left = null;
      }
    };
  }
}
