package io.millrace.cli.graph;

import io.millrace.cli.graph.view.GraphCalls;
import io.millrace.cli.remote.Arguments;
import io.millrace.cli.remote.PolicyOptions;
import io.millrace.cli.terminal.Durations;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.PolicyException;
import io.millrace.work.policy.TimeText;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/** Adds a node. */
@Command(
    name = "add",
    description = {
      "Adds a node and prints its id. Write a command after --, and all options before it. The"
          + " command is not interpreted by a shell."
    })
final class AddCommand extends GraphServer implements Callable<Integer> {
  private static final String COMMAND = "command";

  @Option(
      names = {"-t", "--type"},
      paramLabel = "TYPE",
      description =
          "The type of the node. Default: 'shell command' with --shell, 'command' with a command")
  private @Nullable String type;

  @Option(
      names = "--command",
      paramLabel = "PROGRAM",
      description = "The program to run; the words after the options are then its arguments.")
  private @Nullable String program;

  @Option(
      names = {"-s", "--shell"},
      paramLabel = "SCRIPT",
      description = "A script for bash.")
  private @Nullable String shell;

  @Parameters(arity = "0..*", paramLabel = "COMMAND", description = "A program and its arguments.")
  private List<String> words = List.of();

  @Mixin private PlaceOptions place = new PlaceOptions();

  @Mixin private DataOptions data = new DataOptions();

  @Mixin private GraphServer.UniqueOptions unique = new UniqueOptions();

  @Option(
      names = {"-w", "--wait"},
      description = "Waits until the node has ended or is blocked; the exit code says how.")
  private boolean wait;

  @Override
  public Integer call() {
    return run(calls -> {
      JsonNode added = new GraphCalls(calls).add(form(), unique.query()).path(0);
      String id = added.path("id").asString();
      if (added.path("duplicate").asBoolean(false)) {
        terminal().say("the unique key is held by this node; no other was added");
      }
      print(added, id);
      out().flush();
      if (!wait) {
        return ExitCode.OK;
      }
      var ends = NodeWaiter.WaitOptions.settled(true);
      return new NodeWaiter(calls, this, ends).until(List.of(id));
    });
  }

  private ArrayNode form() {
    ArrayNode nodes = JsonNodeFactory.instance.arrayNode();
    ObjectNode node = nodes.addObject();
    ObjectNode metadata = node.putObject("metadata");
    ObjectNode values = node.putObject("data");
    String named = addWork(values);
    metadata.put("type", named);
    place.addTo(metadata);
    data.addTo(values, terminal());
    return nodes;
  }

  /** Adds what to run to the data and returns the type of the node. */
  private String addWork(ObjectNode values) {
    if (shell != null && (program != null || !words.isEmpty())) {
      throw new UsageException("a node has a command or --shell, not both");
    }
    if (shell != null) {
      String of = type == null ? "shell command" : type;
      // Other types distinguish a script from a program by its key.
      values.put(of.equals("shell command") ? COMMAND : "shell", shell);
      return of;
    }
    if (program == null && words.isEmpty()) {
      if (type == null) {
        throw new UsageException("name what to run: a command, --shell or --type");
      }
      return type;
    }
    values.put(COMMAND, program == null ? words.getFirst() : program);
    List<String> args = program == null ? words.subList(1, words.size()) : words;
    if (!args.isEmpty()) {
      ArrayNode list = values.putArray("args");
      args.forEach(list::add);
    }
    return type == null ? COMMAND : type;
  }

  /** Options for the place of a new node in the graph. */
  private static final class PlaceOptions {
    @Option(
        names = {"-p", "--parent"},
        paramLabel = "ID",
        split = ",",
        description = "The id of a parent node; can be repeated. Default: root")
    private List<String> parents = List.of();

    @Option(
        names = "--after",
        paramLabel = "ID",
        split = ",",
        description =
            "The id of a node or group that must have ended first, without being a parent; can be"
                + " repeated.")
    private List<String> after = List.of();

    @Option(
        names = "--branch",
        paramLabel = "then|else",
        description = "The branch of the parent condition to run on.")
    private @Nullable String branch;

    @Option(names = "--always", description = "Runs the node even if a parent has failed.")
    private boolean always;

    @Option(
        names = {"-n", "--name"},
        paramLabel = "NAME",
        description = "A display name.")
    private @Nullable String name;

    /**
     * Adds the given options to the metadata of a node.
     *
     * @throws UsageException if an option is invalid
     */
    void addTo(ObjectNode metadata) {
      if (name != null) {
        metadata.put("name", name);
      }
      var above = metadata.putArray("parents");
      parents.forEach(id -> above.add(GraphServer.parent(id)));
      if (parents.isEmpty()) {
        above.add("root");
      }
      if (!after.isEmpty()) {
        var before = metadata.putArray("after");
        after.forEach(id -> before.add(GraphServer.checked(id)));
      }
      if (branch != null) {
        if (!branch.equals("then") && !branch.equals("else")) {
          throw new UsageException("--branch is then or else, not '" + branch + "'");
        }
        metadata.put("branch", branch);
      }
      if (always) {
        metadata.put("always", true);
      }
    }
  }

  /** Options for the data of a new node. */
  static final class DataOptions {
    @Option(
        names = {"-e", "--env"},
        paramLabel = "NAME=VALUE",
        description = "A variable for the environment of the command; can be repeated.")
    private List<String> env = List.of();

    @Option(
        names = "--cwd",
        paramLabel = "DIR",
        description = "The folder that the command starts in.")
    private @Nullable String cwd;

    @Option(
        names = "--stdin",
        paramLabel = "FILE",
        description =
            "A text file for the standard input of the command; - is the standard input of this"
                + " one.")
    private @Nullable String stdin;

    @Mixin private PolicyOptions policy = new PolicyOptions();

    @Mixin private PolicyOptions.Tags tags = new PolicyOptions.Tags();

    @Option(
        names = "--interruptions",
        paramLabel = "N",
        description =
            "How often an attempt is started again without being counted if it was interrupted, for"
                + " example because its execution node was lost. Default: 0")
    private @Nullable Integer interruptions;

    @Option(
        names = "--backoff",
        paramLabel = "TIME",
        converter = Durations.class,
        description = "An older form of --retry-delay.")
    private @Nullable Duration backoff;

    @Option(
        names = "--timeout",
        paramLabel = "TIME",
        converter = Durations.class,
        description = "The maximum time for an attempt. Default: no limit")
    private @Nullable Duration timeout;

    @Option(
        names = "--wait-timeout",
        paramLabel = "TIME",
        converter = Durations.class,
        description =
            "The maximum time from the moment when the node can start to its start. Default: no"
                + " limit")
    private @Nullable Duration waitTimeout;

    @Option(
        names = "--total-timeout",
        paramLabel = "TIME",
        converter = Durations.class,
        description =
            "The maximum time for all attempts together, with the delays between them. Default: no"
                + " limit")
    private @Nullable Duration totalTimeout;

    @Option(
        names = "--delay",
        paramLabel = "TIME",
        converter = Durations.class,
        description =
            "How long to wait before the node starts, after everything above it has ended, for"
                + " example 10m.")
    private @Nullable Duration delay;

    @Option(
        names = "--at",
        paramLabel = "MOMENT",
        description =
            "The earliest time to start the node, for example 2026-12-24T18:00:00Z or with another"
                + " offset.")
    private @Nullable String at;

    @Option(
        names = "--keep-finished",
        paramLabel = "TIME",
        description =
            "How long the graph of the node stays in the store after it has ended. Default:"
                + " graph.keep-finished of the server")
    private @Nullable String keepFinished;

    @Option(
        names = "--keep-count",
        paramLabel = "N",
        description =
            "How many graphs that have ended stay in the store, of those with a node of this name."
                + " Default: graph.keep-count of the server, over all graphs")
    private @Nullable Integer keepCount;

    @Option(
        names = "--limits",
        paramLabel = "NAME,…",
        split = ",",
        description =
            "The shared limits under which the node starts (see limits set), as queues and job"
                + " types name them.")
    private List<String> limits = List.of();

    @Option(
        names = "--limit-key",
        paramLabel = "KEY",
        description =
            "For whom the node works: the keys of the nodes with the same limits take turns.")
    private @Nullable String limitKey;

    @Option(
        names = "--priority-level",
        paramLabel = "N",
        description =
            "The level of the node among those with the same limits and key, from 0 to 9. Each"
                + " level counts as much as a minute of waiting. Default: 0")
    private @Nullable Integer priorityLevel;

    @Option(
        names = "--key-running",
        paramLabel = "N",
        description =
            "How many nodes with the same limits and key run at a time. Default: no limit")
    private @Nullable Integer keyRunning;

    @Option(
        names = "--key-starts",
        paramLabel = "N/TIME",
        description =
            "How many nodes with the same limits and key start in a time, for example 5/1m."
                + " Default: no limit")
    private @Nullable String keyStarts;

    @Option(
        names = {"-d", "--data"},
        paramLabel = "KEY=VALUE",
        description = {
          "Other data of the node. A value that is JSON is taken as JSON, others as text; KEY=@FILE"
              + " takes the text of a file."
        })
    private List<String> data = List.of();

    /**
     * Adds the given options to the data of a node.
     *
     * @throws UsageException if an option is invalid or given twice
     */
    void addTo(ObjectNode node, Terminal terminal) {
      if (!env.isEmpty()) {
        ObjectNode variables = node.putObject("env");
        for (String variable : env) {
          Map.Entry<String, String> pair = Arguments.pair("--env NAME=VALUE", variable);
          if (variables.has(pair.getKey())) {
            throw new UsageException("the variable '" + pair.getKey() + "' is given twice");
          }
          variables.put(pair.getKey(), pair.getValue());
        }
      }
      if (cwd != null) {
        node.put("cwd", folder(cwd));
      }
      if (stdin != null) {
        node.put("stdin", Arguments.text("--stdin: ", stdin, terminal));
      }
      Map<String, String> settings = policy.fields(false);
      tags.addTo(settings);
      settings.forEach((key, text) -> {
        boolean number = Policy.Field.of(key).filter(Policy.Field::isNumber).isPresent();
        node.set(key, number ? Arguments.value(text) : StringNode.valueOf(text));
      });
      if (interruptions != null) {
        node.put("interruptions", interruptions);
      }
      addSeconds(node, "backoff", backoff);
      addSeconds(node, "timeout", timeout);
      addSeconds(node, "wait_timeout", waitTimeout);
      addSeconds(node, "total_timeout", totalTimeout);
      addSeconds(node, "delay", delay);
      if (at != null) {
        node.put("at", moment(at));
      }
      if (keepFinished != null) {
        node.put("keep_finished", keepFinished);
      }
      if (keepCount != null) {
        node.put("keep_count", keepCount);
      }
      if (!limits.isEmpty()) {
        node.put("limits", String.join(",", limits));
      }
      if (limitKey != null) {
        node.put("limit_key", limitKey);
      }
      if (priorityLevel != null) {
        node.put("priority_level", priorityLevel);
      }
      if (keyRunning != null) {
        node.put("key_running", keyRunning);
      }
      if (keyStarts != null) {
        node.put("key_starts", keyStarts);
      }
      data.forEach(pair -> addPair(node, pair, terminal));
    }

    /**
     * Adds {@code KEY=VALUE} as given with {@code --data}.
     *
     * @throws UsageException if it has another form, or the key exists already
     */
    static void addPair(ObjectNode node, String pair, Terminal terminal) {
      Map.Entry<String, String> parts = Arguments.pair("KEY=VALUE", pair);
      String key = parts.getKey();
      if (node.has(key)) {
        throw new UsageException("the data '" + key + "' is given twice");
      }
      String value = parts.getValue();
      if (value.startsWith("@")) {
        node.put(key, Arguments.text("--data " + key + ": ", value.substring(1), terminal));
      } else {
        node.set(key, Arguments.value(value));
      }
    }

    private static String moment(String text) {
      try {
        TimeText.moment("--at", text);
        return text;
      } catch (PolicyException e) {
        throw new UsageException(String.valueOf(e.getMessage()), e);
      }
    }

    private static void addSeconds(ObjectNode node, String key, @Nullable Duration time) {
      if (time != null) {
        node.put(key, Durations.seconds(time));
      }
    }

    /** Absolute, since the server may have another working directory. */
    private static String folder(String cwd) {
      try {
        return Path.of(cwd).toAbsolutePath().normalize().toString();
      } catch (InvalidPathException e) {
        throw new UsageException("--cwd is not a path: " + e.getMessage(), e);
      }
    }
  }
}
