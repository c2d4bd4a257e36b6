package io.millrace.cli.graph;

import io.millrace.cli.terminal.ArgumentLines;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Parameters;

/** The graph nodes that a command is about. */
final class NodeArguments {
  private static final int MOST_DIGITS = 18;

  @Parameters(
      arity = "1..*",
      paramLabel = "ID",
      description = "Ids of nodes; - takes them from standard input, by lines.")
  private List<String> ids = List.of();

  /**
   * The ids in order, each once.
   *
   * @throws UsageException when one is no id, or there are none
   */
  List<String> read(Terminal terminal) throws IOException {
    List<String> read = ArgumentLines.read(ids, terminal, NodeArguments::checked);
    return read.stream().distinct().toList();
  }

  /**
   * An id as it came.
   *
   * @throws UsageException when it is none
   */
  static String checked(String id) {
    if (!id.matches("[1-9][0-9]*") || id.length() > MOST_DIGITS) {
      throw new UsageException("the id of a node is a number from 1, not '" + id + "'");
    }
    return id;
  }

  /**
   * The id of a parent as it came, which may be {@code root}.
   *
   * @throws UsageException when it is none
   */
  static String parent(String id) {
    return id.equals("root") ? id : checked(id);
  }
}
