package io.millrace.cli.graph;

import io.millrace.cli.graph.file.GraphFile;
import io.millrace.cli.graph.file.GraphFileException;
import io.millrace.cli.graph.file.GraphFileException.Mistake;
import io.millrace.cli.graph.view.GraphCalls;
import io.millrace.cli.remote.Arguments;
import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.RejectedException;
import io.millrace.store.StoreException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Adds the graph of a file. */
@Command(
    name = "import",
    description = {
      "Adds the graph of a file, for example one written by 'export', and prints the id of each new"
          + " node. All nodes start from the beginning. Up to 1000 nodes are added in one request:"
          + " a larger graph may start before all of it is added, and stay incomplete if the server"
          + " stops; 'run', and 'import' with --unique, --at or --delay, add all or nothing."
    })
final class ImportCommand extends GraphServer implements Callable<Integer> {
  private static final int MAX_NODES = 1_000;

  @Mixin private FileArgument file = new FileArgument();

  @Mixin private GraphServer.UniqueOptions unique = new GraphServer.UniqueOptions();

  @Mixin private GraphServer.StartOptions start = new GraphServer.StartOptions();

  @Override
  public Integer call() {
    return perform(calls -> {
      GraphFile graph = file.read(terminal());
      GraphUpload addition = new GraphUpload(new GraphCalls(calls), file.name(), file.parents());
      String query = start.query(unique);
      try {
        addition.add(graph, query.isEmpty() ? MAX_NODES : Integer.MAX_VALUE, query);
      } catch (StoreException | CommandException e) {
        addition.printIds(out(), json());
        boolean refused =
            e instanceof CommandException
                || (e instanceof RejectedException rejected && isRefusal(rejected));
        String before =
            addition.ids().isEmpty()
                ? ""
                : "; " + addition.ids().size() + " nodes were added before";
        throw new CommandException(
            refused ? ExitCode.REFUSED : ExitCode.FAILURE, e.getMessage() + before, e);
      }
      addition.reportDuplicate(terminal());
      addition.printIds(out(), json());
    });
  }

  /** The graph file and the parents of its graph, as parameters of a command. */
  static final class FileArgument {
    private static final int SHOWN = 20;

    @Parameters(
        paramLabel = "FILE",
        description = "A graph file (YAML or JSON, see docs/graph-files.md); - is standard input.")
    private String file = "";

    @Option(
        names = {"-p", "--parent"},
        paramLabel = "ID",
        split = ",",
        description = "The id of a node to add the graph below; can be repeated. Default: root")
    private List<String> parents = List.of();

    /**
     * Reads the file. Prints all mistakes except the last, which the exception contains.
     *
     * @throws UsageException if it cannot be read
     * @throws CommandException if it is not a valid graph file
     */
    GraphFile read(Terminal terminal) {
      return read(file, terminal);
    }

    /** As {@link #read(Terminal)}, of the file of this name. */
    static GraphFile read(String file, Terminal terminal) {
      String text = Arguments.text("", file, terminal);
      Path folder = Path.of(file.equals("-") ? "" : file).toAbsolutePath();
      try {
        return GraphFile.read(text, file.equals("-") ? folder : folder.resolveSibling(""));
      } catch (GraphFileException e) {
        throw wrong(e, name(file), terminal);
      }
    }

    private static CommandException wrong(GraphFileException e, String name, Terminal terminal) {
      List<Mistake> mistakes = e.mistakes();
      List<String> lines =
          mistakes.stream()
              .limit(SHOWN)
              .map(one -> name + " line " + one.line() + ": " + Table.printable(one.message()))
              .toList();
      for (String line : lines.subList(0, lines.size() - 1)) {
        terminal.say(line);
      }
      int more = mistakes.size() - lines.size();
      String last = lines.getLast() + (more > 0 ? " (and " + more + " more mistakes)" : "");
      return new CommandException(ExitCode.USAGE, last, e);
    }

    /** The name of the file in messages. */
    String name() {
      return name(file);
    }

    private static String name(String file) {
      return file.equals("-") ? "standard input" : file;
    }

    /** The ids of the parents of the graph; empty for root. */
    List<String> parents() {
      return parents.stream().map(GraphServer::parent).filter(id -> !id.equals("root")).toList();
    }
  }
}
