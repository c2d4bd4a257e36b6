package io.millrace.cli.graph.file;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The data that the known node types read and write. A server may have more types; files give the
 * data of those below {@code data}.
 */
public final class TypeKeys {
  /** Runs a program. */
  static final String COMMAND = "command";

  /** Runs a shell script. */
  static final String SHELL = "shell command";

  /** Chooses a branch. */
  static final String CONDITION = "condition";

  /** When a node of any type that works starts, how often it is tried, how long, and how many. */
  static final List<String> POLICY =
      List.of(
          "attempts",
          "retries",
          "retry_delay",
          "backoff",
          "retry_factor",
          "retry_max_delay",
          "retry_jitter",
          "retry_except",
          "snoozes",
          "interruptions",
          "timeout",
          "wait_timeout",
          "total_timeout",
          "at",
          "delay",
          "limits",
          "limit_key",
          "priority_level",
          "key_running",
          "key_starts");

  /** How long the graph of a node of any type stays in the store. */
  private static final List<String> RETENTION = List.of("keep_finished", "keep_count");

  /**
   * Keys of which either one of a node replaces both of the defaults: older forms by the keys of
   * today, and the two of times.
   */
  static final Map<String, String> EITHER =
      Map.of("attempts", "retries", "retry_delay", "backoff", "at", "delay");

  private static final List<String> PROCESS = List.of("env", "cwd", "stdin");

  private static final Map<String, Set<String>> INPUTS =
      Map.of(
          COMMAND,
          keys(PROCESS, "command", "args"),
          SHELL,
          keys(PROCESS, "command", "shell"),
          CONDITION,
          keys(PROCESS, "command", "args", "shell", "file"),
          "wait for",
          keys(PROCESS, "command", "args", "shell", "file", "port", "time", "interval"),
          "group",
          Set.copyOf(RETENTION),
          "queue task",
          keys(List.of(), "queue", "params"),
          "job",
          keys(List.of(), "job_type", "payload", "description", "priority"));

  /** Exactly one of these keys of a type must be given. */
  private static final Map<String, List<String>> ONE_OF =
      Map.of(
          COMMAND,
          List.of("command"),
          SHELL,
          List.of("command"),
          CONDITION,
          List.of("command", "shell", "file"),
          "wait for",
          List.of("file", "port", "time", "command", "shell"),
          "queue task",
          List.of("queue"));

  private static final Set<String> OUTPUTS = Set.of("result", "stdout", "stderr", "mixedout");
  private static final Map<String, Set<String>> OTHER_OUTPUTS =
      Map.of(
          "queue task", Set.of("task", "status", "stdout", "stderr"),
          "job", Set.of("job", "result"),
          "group", Set.of());

  private TypeKeys() {}

  private static Set<String> keys(List<String> some, String... more) {
    Set<String> keys = new TreeSet<>(POLICY);
    keys.addAll(RETENTION);
    keys.addAll(some);
    keys.addAll(List.of(more));
    return Set.copyOf(keys);
  }

  /** The names of the types. */
  static List<String> types() {
    return INPUTS.keySet().stream().sorted().toList();
  }

  /** The data that a type reads; empty for an unknown type. */
  static Optional<Set<String>> inputs(String type) {
    return Optional.ofNullable(INPUTS.get(type));
  }

  /** What is wrong with the keys of a node; empty if they are right or the type is unknown. */
  static Optional<String> mistake(String type, Set<String> given) {
    List<String> oneOf = ONE_OF.getOrDefault(type, List.of());
    List<String> found = oneOf.stream().filter(given::contains).toList();
    if (oneOf.isEmpty() || found.size() == 1) {
      return Optional.empty();
    }
    String named = String.join(" or ", oneOf);
    return Optional.of(
        found.isEmpty()
            ? "of type '" + type + "' has no " + named
            : "has " + String.join(" and ", found) + ", but only one of them is allowed");
  }

  /** All data that any type reads. */
  static List<String> allInputs() {
    List<String> all = new ArrayList<>();
    INPUTS.values().forEach(all::addAll);
    return all.stream().distinct().sorted().toList();
  }

  /** Whether nodes of a type write this data themselves, so that it does not belong in a file. */
  public static boolean isOutput(String type, String key) {
    return OTHER_OUTPUTS.getOrDefault(type, OUTPUTS).contains(key);
  }
}
