package io.millrace.cli.jobs;

import io.millrace.cli.terminal.ArgumentLines;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Parameters;

/** The jobs that a command is about. */
final class KeyArguments {
  @Parameters(
      arity = "1..*",
      paramLabel = "KEY",
      description = "Keys or GUIDs of jobs; - takes them from standard input, by lines.")
  private List<String> keys = List.of();

  /**
   * The keys in order.
   *
   * @throws UsageException when one is empty
   */
  List<String> read(Terminal terminal) throws IOException {
    return ArgumentLines.read(keys, terminal, KeyArguments::checked);
  }

  /**
   * A key as it came.
   *
   * @throws UsageException when it is empty
   */
  static String checked(String key) {
    if (key.isEmpty()) {
      throw new UsageException("the key of a job is empty");
    }
    return key;
  }
}
