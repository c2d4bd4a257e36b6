package io.millrace.cli.graph;

import io.millrace.cli.remote.RemoteCommand;
import io.millrace.cli.remote.ServerAddress;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.ClientOptions;

/**
 * A command on the graph of a server. Within a command that runs as a node of a graph it asks the
 * server of that graph, with the token of that node, unless it is told another server.
 */
abstract class GraphCommand extends RemoteCommand {
  /** What the tokens of running nodes begin with; tasks of queues have others of that name. */
  private static final String TOKEN = "graph-";

  GraphCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  protected ClientOptions client(ServerAddress address) {
    String url = System.getenv("MILLRACE_URL");
    String token = System.getenv("MILLRACE_TOKEN");
    boolean within = url != null && token != null && token.startsWith(TOKEN);
    return within && !address.isSaid() ? address.client(url, token) : super.client(address);
  }
}
