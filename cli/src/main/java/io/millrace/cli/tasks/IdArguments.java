package io.millrace.cli.tasks;

import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import io.millrace.queues.ObjectId;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
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
    List<String> read = new ArrayList<>();
    for (String id : ids) {
      if (id.equals("-")) {
        // Not closed, since it is not ours to close.
        var lines =
            new BufferedReader(new InputStreamReader(terminal.in(), StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          if (!line.isBlank()) {
            read.add(checked(line.strip()));
          }
        }
      } else {
        read.add(checked(id));
      }
    }
    return read;
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
