package io.millrace.cli.cluster;

import io.millrace.cli.terminal.UsageException;
import io.millrace.cluster.member.ClusterWork;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

/**
 * What the members of a cluster do: a part of the configuration of the cluster.
 *
 * @param values by name: {@code example} is the name of an example, or {@code program} that of a
 *     user's class, with settings whose names begin with {@code set.}. If members run code that
 *     other members send, {@code signature} signs all other values with the secret of the cluster
 */
record Plan(Map<String, String> values) {
  static final String EXAMPLE = "example";
  static final String PROGRAM = "program";
  static final String SETTING = "set.";
  private static final String SIGNATURE = "signature";
  static final String INPUT = "input";
  static final String OUTPUT = "output";
  static final String PACE = "pace";
  static final String PORT = "port";

  /**
   * The plan that the options describe.
   *
   * @param example the values from the options of examples
   * @param program the values from the options of programs
   * @throws UsageException if neither is empty, or a secret is needed and missing
   */
  static Plan of(Map<String, String> example, Map<String, String> program, RemoteCode remote) {
    if (!example.isEmpty() && !program.isEmpty()) {
      throw new UsageException("give --example or --program, not both");
    }
    Plan plan = new Plan(example.isEmpty() ? program : example);
    if (!plan.isRemote()) {
      return plan;
    }
    Map<String, String> signed = new TreeMap<>(plan.values());
    signed.put(SIGNATURE, remote.sign(plan.text()));
    return new Plan(signed);
  }

  /** All values except the signature, as an unambiguous text. */
  private String text() {
    StringBuilder text = new StringBuilder();
    new TreeMap<>(values)
        .forEach((name, value) -> {
          if (!name.equals(SIGNATURE)) {
            text.append(name.length()).append(':').append(name);
            text.append(value.length()).append(':').append(value);
          }
        });
    return text.toString();
  }

  private boolean isRemote() {
    return values.containsKey(PROGRAM)
        || (values.containsKey(EXAMPLE) && Example.of(text(EXAMPLE)).isRemote());
  }

  /**
   * Checks that the plan is signed with the secret, if members run code that others send.
   *
   * @throws UsageException if it is not, or there is no secret
   */
  void check(RemoteCode remote) {
    if (isRemote()) {
      remote.check(text(), values.getOrDefault(SIGNATURE, ""));
    }
  }

  /**
   * The work of the cluster.
   *
   * @throws UsageException if this version does not support the plan, or the member lacks a secret
   *     or a class that the plan needs
   */
  ClusterWork clusterWork(Example.Context means) {
    if (values.isEmpty()) {
      return ClusterWork.none();
    }
    return values.containsKey(PROGRAM)
        ? means.remote().clusterWork(text(PROGRAM), settings())
        : Example.of(text(EXAMPLE)).clusterWork(this, means);
  }

  private Map<String, String> settings() {
    Map<String, String> settings = new TreeMap<>();
    values.forEach((name, value) -> {
      if (name.startsWith(SETTING)) {
        settings.put(name.substring(SETTING.length()), value);
      }
    });
    return settings;
  }

  /** The input folder. */
  Path input() {
    return path(INPUT);
  }

  /** The output file. */
  Path output() {
    return path(OUTPUT);
  }

  /** The minimum time for each step. */
  Duration pace() {
    try {
      return Duration.ofMillis(Long.parseLong(text(PACE)));
    } catch (NumberFormatException e) {
      throw unknown();
    }
  }

  private String text(String name) {
    String value = values.get(name);
    if (value == null) {
      throw unknown();
    }
    return value;
  }

  private Path path(String name) {
    try {
      return Path.of(text(name));
    } catch (InvalidPathException e) {
      throw unknown();
    }
  }

  /** The port to listen on. */
  int port() {
    try {
      return Integer.parseInt(text(PORT));
    } catch (NumberFormatException e) {
      throw unknown();
    }
  }

  private UsageException unknown() {
    return new UsageException("this version does not support the plan of the cluster: " + values);
  }
}
