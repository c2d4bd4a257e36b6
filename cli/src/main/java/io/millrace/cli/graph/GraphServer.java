package io.millrace.cli.graph;

import io.millrace.cli.graph.view.State;
import io.millrace.cli.remote.Arguments;
import io.millrace.cli.remote.ServerAddress;
import io.millrace.cli.remote.ServerCommand;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.ClientOptions;
import io.millrace.client.JsonCalls;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.Policy.Field;
import io.millrace.work.policy.PolicyException;
import io.millrace.work.policy.TimeText;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The server of a graph command. A command that runs inside a graph node calls the server of that
 * graph with the token of the node, unless an option or the environment names another server.
 */
class GraphServer extends ServerCommand {
  /**
   * The prefix of the tokens of graph nodes; {@code MILLRACE_TOKEN} of a queue task has another.
   */
  private static final String TOKEN = "graph-";

  private static final int MAX_DIGITS = 18;

  @Override
  protected ClientOptions client(ServerAddress address) {
    String url = System.getenv("MILLRACE_URL");
    String token = System.getenv("MILLRACE_TOKEN");
    boolean within = url != null && token != null && token.startsWith(TOKEN);
    return within && !address.isConfigured() ? address.client(url, token) : super.client(address);
  }

  /**
   * Checks an id and returns it.
   *
   * @throws UsageException if it is not a node id
   */
  static String checked(String id) {
    if (!id.matches("[1-9][0-9]*") || id.length() > MAX_DIGITS) {
      throw new UsageException("the id of a node is a number from 1, not '" + id + "'");
    }
    return id;
  }

  /**
   * Checks the id of a parent, which may be {@code root}, and returns it.
   *
   * @throws UsageException if it is neither
   */
  static String parent(String id) {
    return id.equals("root") ? id : checked(id);
  }

  /** The node ids given to a command. */
  static final class Nodes {
    @Parameters(
        arity = "1..*",
        paramLabel = "ID",
        description = "Ids of nodes; - reads them from standard input, one per line.")
    private List<String> ids = List.of();

    /**
     * The ids in the given order, without duplicates.
     *
     * @throws UsageException if one of them is not a node id
     */
    List<String> read(Terminal terminal) {
      List<String> read = Arguments.lines(ids, terminal, GraphServer::checked);
      return read.stream().distinct().toList();
    }
  }

  /** Options that select nodes. */
  static final class FilterOptions {
    @Option(
        names = {"-b", "--below"},
        paramLabel = "ID",
        description = "Only this node and the nodes below it.")
    private @Nullable String below;

    @Option(
        names = {"-t", "--type"},
        paramLabel = "TYPE",
        split = ",",
        description = "Only nodes of this type; can be repeated.")
    private List<String> types = List.of();

    @Option(
        names = {"-S", "--state"},
        paramLabel = "STATE",
        split = ",",
        description =
            "Only nodes in this state: incipient, ready, running, finished, failed, killed, skipped"
                + " or blocked; can be repeated.")
    private List<String> states = List.of();

    /**
     * The query parameters of the API, joined by {@code &}; empty without options.
     *
     * @throws UsageException if an option is invalid
     */
    String query() {
      List<String> parameters = new ArrayList<>();
      if (below != null) {
        parameters.add("below=" + parent(below));
      }
      types.forEach(type -> parameters.add("type=" + JsonCalls.part(type)));
      for (String state : states) {
        if (State.of(state) == State.UNKNOWN) {
          String known =
              Arrays.stream(State.values())
                  .filter(one -> one != State.UNKNOWN)
                  .map(State::word)
                  .collect(Collectors.joining(", "));
          throw new UsageException("--state is one of " + known + ", not '" + state + "'");
        }
        parameters.add("state=" + state);
      }
      return String.join("&", parameters);
    }

    /** Whether an option was given. */
    boolean isGiven() {
      return below != null || !types.isEmpty() || !states.isEmpty();
    }
  }

  /** Options for the time before which nothing of a graph starts. */
  static final class StartOptions {
    @Option(
        names = "--delay",
        paramLabel = "TIME",
        description = "How long nothing of the graph starts from now on, for example 90m.")
    private @Nullable String delay;

    @Option(
        names = "--at",
        paramLabel = "MOMENT",
        description =
            "The earliest time to start the graph, for example 2026-12-24T18:00:00Z or with another"
                + " offset.")
    private @Nullable String at;

    /**
     * The parameters of the request, after those of a unique key; empty if there are none.
     *
     * @throws UsageException if an option is invalid, or both are given
     */
    String query(UniqueOptions unique) {
      List<String> parameters = new ArrayList<>();
      String key = unique.query();
      if (!key.isEmpty()) {
        parameters.add(key);
      }
      try {
        if (at != null && delay != null) {
          throw new UsageException("--at and --delay cannot be combined");
        }
        if (delay != null) {
          TimeText.duration("--delay", delay);
          parameters.add("delay=" + JsonCalls.part(delay));
        }
        if (at != null) {
          TimeText.moment("--at", at);
          parameters.add("at=" + JsonCalls.part(at));
        }
      } catch (PolicyException e) {
        throw new UsageException(String.valueOf(e.getMessage()), e);
      }
      return String.join("&", parameters);
    }
  }

  /** Options for a unique key. */
  static final class UniqueOptions {
    @Option(
        names = "--unique",
        paramLabel = "KEY",
        description =
            "A uniqueness key: while a node or graph with this key has not ended, no second one is"
                + " added, and the ids of the first are printed.")
    private @Nullable String key;

    @Option(
        names = "--unique-fields",
        paramLabel = "NAME[,NAME…]",
        description =
            "The keys of data whose values form the uniqueness key, of all nodes together with"
                + " their types.")
    private @Nullable String uniqueFields;

    @Option(
        names = "--unique-scope",
        paramLabel = "SCOPE",
        description =
            "How long the key is held: queued (until the first node starts) or unfinished (until"
                + " all have ended). Default: unfinished")
    private @Nullable String scope;

    @Option(
        names = "--unique-period",
        paramLabel = "TIME",
        description = "Holds the key for this time after it was taken instead.")
    private @Nullable String period;

    /**
     * The parameters of the request; empty if there are none.
     *
     * @throws UsageException if an option is invalid
     */
    String query() {
      Map<String, String> fields = new TreeMap<>();
      put(fields, Field.UNIQUE, key);
      put(fields, Field.UNIQUE_FIELDS, uniqueFields);
      put(fields, Field.UNIQUE_SCOPE, scope);
      put(fields, Field.UNIQUE_PERIOD, period);
      if (fields.containsValue("")) {
        throw new UsageException("the options of a unique key must not be empty");
      }
      if (key == null && uniqueFields == null && !fields.isEmpty()) {
        throw new UsageException(
            "--unique-scope and --unique-period need --unique or --unique-fields");
      }
      try {
        Policy.NONE.with(fields);
      } catch (PolicyException e) {
        throw new UsageException(String.valueOf(e.getMessage()), e);
      }
      return fields.entrySet().stream()
          .map(field -> field.getKey() + "=" + JsonCalls.part(field.getValue()))
          .collect(Collectors.joining("&"));
    }

    private static void put(Map<String, String> fields, Field field, @Nullable String text) {
      if (text != null) {
        fields.put(field.key(), text);
      }
    }
  }
}
