package io.millrace.cli.tasks;

import io.millrace.cli.terminal.ArgumentLines;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import io.millrace.queues.ObjectId;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Parameters;

/** The tasks that a command is about. */
final class IdArguments {
  @Parameters(
      arity = "1..*",
      paramLabel = "ID",
      description = "Ids of tasks, 24 hex digits each; - takes them from standard input, by lines.")
  private List<String> ids = List.of();

  /**
   * The ids in order.
   *
   * @throws UsageException when one is no id
   */
  List<String> read(Terminal terminal) throws IOException {
    return ArgumentLines.read(ids, terminal, IdArguments::checked);
  }

  /**
   * An id as it came.
   *
   * @throws UsageException when it is none
   */
  static String checked(String id) {
    if (!ObjectId.isValid(id)) {
      throw new UsageException("a task's id is 24 hex digits, not '" + id + "'");
    }
    return id;
  }
}
