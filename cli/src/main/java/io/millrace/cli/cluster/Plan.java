package io.millrace.cli.cluster;

import io.millrace.cli.terminal.UsageException;
import io.millrace.cluster.member.Duty;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

/**
 * What the members of a cluster are there for, as its configuration says.
 *
 * @param values by name; {@code example} names the example, or {@code program} the users' class,
 *     whose settings begin with {@code set.}; {@code signature} is that of all others, where
 *     members run code that others send: who cannot sign cannot choose what they run
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
   * What options say.
   *
   * @param example what those of examples say
   * @param program what those of a program say
   * @throws UsageException if both say something, or there is no secret and they need one
   */
  static Plan of(Map<String, String> example, Map<String, String> program, Remote remote) {
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

  /** All but the signature, in one text that no other plan has. */
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
   * Checks that it was signed with the secret, if members run code of others.
   *
   * @throws UsageException if it was not, or there is no secret to check it with
   */
  void check(Remote remote) {
    if (isRemote()) {
      remote.check(text(), values.getOrDefault(SIGNATURE, ""));
    }
  }

  /**
   * What it has a member do.
   *
   * @throws UsageException if this version does not understand it, or the member has not what it
   *     needs
   */
  Duty duty(Example.Means means) {
    if (values.isEmpty()) {
      return Duty.none();
    }
    return values.containsKey(PROGRAM)
        ? means.remote().duty(text(PROGRAM), settings())
        : Example.of(text(EXAMPLE)).duty(this, means);
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

  /** The folder that is read. */
  Path input() {
    return path(INPUT);
  }

  /** Where the lines go. */
  Path output() {
    return path(OUTPUT);
  }

  /** How long each step takes at least. */
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

  /** The port that is listened on. */
  int port() {
    try {
      return Integer.parseInt(text(PORT));
    } catch (NumberFormatException e) {
      throw unknown();
    }
  }

  private UsageException unknown() {
    return new UsageException("the cluster's plan is not one that this version knows: " + values);
  }
}
