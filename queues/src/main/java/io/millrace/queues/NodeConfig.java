package io.millrace.queues;

import io.millrace.queues.QueuesException.InvalidRequestException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The stored configuration as it applies to one node.
 *
 * @param label a label for people; null for none
 * @param taskRunner the command that starts task runners; empty for the node's own
 * @param plugins names of plugins that may be used for queues, besides built-in and found ones
 * @param activeQueues ids or names of the only queues to serve; empty for all. If this is not
 *     empty, {@code ignoreQueues} has no effect
 * @param ignoreQueues ids or names of queues not to serve
 * @param logLevel {@code error}, {@code warn}, {@code info}, {@code debug} or {@code trace}; null
 *     for the level with which the node was started
 * @param output which output of tasks is kept
 */
public record NodeConfig(
    @Nullable String label,
    List<String> taskRunner,
    List<String> plugins,
    List<String> activeQueues,
    List<String> ignoreQueues,
    @Nullable String logLevel,
    OutputLimits output) {
  /** Serves all queues. */
  public static final NodeConfig DEFAULTS =
      new NodeConfig(null, List.of(), List.of(), List.of(), List.of(), null, OutputLimits.DEFAULTS);

  public NodeConfig {
    taskRunner = List.copyOf(taskRunner);
    plugins = List.copyOf(plugins);
    activeQueues = List.copyOf(activeQueues);
    ignoreQueues = List.copyOf(ignoreQueues);
  }

  /** Whether a node with this configuration and name serves a queue. */
  public boolean serves(String node, Queue queue) {
    boolean wanted =
        activeQueues.isEmpty() ? !names(ignoreQueues, queue) : names(activeQueues, queue);
    return wanted && queue.settings().mayRunOn(node);
  }

  private static boolean names(List<String> queues, Queue queue) {
    return queues.contains(queue.id().hex()) || queues.contains(queue.name());
  }

  private static final Set<String> LEVELS = Set.of("error", "warn", "info", "debug", "trace");

  private static final Pattern PLUGIN = Pattern.compile("[A-Za-z0-9_:.-]+");

  /**
   * The configuration of these fields; unknown ones are ignored.
   *
   * @throws InvalidRequestException if a known field has a value of the wrong kind
   */
  public static NodeConfig read(ObjectNode fields) {
    String level = text(fields, "log_level");
    if (level != null && !LEVELS.contains(level)) {
      throw new InvalidRequestException("log_level", "log_level must be one of " + LEVELS);
    }
    return new NodeConfig(
        text(fields, "label"),
        strings(fields, "task_runner"),
        plugins(fields),
        strings(fields, "activequeues"),
        strings(fields, "ignorequeues"),
        level,
        output(fields));
  }

  private static List<String> plugins(ObjectNode fields) {
    List<String> names = strings(fields, "plugins");
    for (String name : names) {
      if (!PLUGIN.matcher(name).matches()) {
        throw new InvalidRequestException(
            "plugins", "the name of a plugin has the characters A-Z a-z 0-9 _ : . - and no others");
      }
    }
    return names;
  }

  private static OutputLimits output(ObjectNode fields) {
    OutputLimits defaults = OutputLimits.DEFAULTS;
    String files = text(fields, "output_files");
    return new OutputLimits(
        files == null ? defaults.files() : files(files),
        bytes(fields, "output_text_bytes", defaults.textBytes()),
        bytes(fields, "output_max_bytes", defaults.maxBytes()));
  }

  private static OutputLimits.Files files(String word) {
    for (OutputLimits.Files files : OutputLimits.Files.values()) {
      if (files.name().toLowerCase(Locale.ROOT).equals(word)) {
        return files;
      }
    }
    throw new InvalidRequestException(
        "output_files", "output_files must be auto, always or never, not " + word);
  }

  private static long bytes(ObjectNode fields, String field, long fallback) {
    JsonNode value = fields.get(field);
    if (value == null) {
      return fallback;
    }
    if (!value.canConvertToLong() || !value.isIntegralNumber() || value.asLong() < 0) {
      throw new InvalidRequestException(field, field + " must be a non-negative integer");
    }
    return value.asLong();
  }

  private static @Nullable String text(ObjectNode fields, String field) {
    JsonNode value = fields.get(field);
    if (value == null) {
      return null;
    }
    if (!value.isString()) {
      throw new InvalidRequestException(field, field + " must be a string");
    }
    return value.asString();
  }

  private static List<String> strings(ObjectNode fields, String field) {
    JsonNode value = fields.get(field);
    List<String> strings = new ArrayList<>();
    if (value == null) {
      return strings;
    }
    if (value.isString()) {
      return List.of(value.asString());
    }
    for (JsonNode element : value) {
      if (!element.isString()) {
        throw new InvalidRequestException(field, field + " must be an array of strings");
      }
      strings.add(element.asString());
    }
    if (!value.isArray()) {
      throw new InvalidRequestException(field, field + " must be an array of strings");
    }
    return strings;
  }

  /**
   * How much output of a task is kept, and where.
   *
   * @param files when an output becomes a file
   * @param textBytes the most bytes of both outputs together that are shown in the task itself if
   *     {@code files} is {@link Files#AUTO}; default 15 MiB
   * @param maxBytes the most bytes that are kept of each output; the rest is dropped, and the
   *     reason of the task says so. Default 1 GiB
   */
  public record OutputLimits(Files files, long textBytes, long maxBytes) {
    /** The defaults. */
    public static final OutputLimits DEFAULTS = new OutputLimits(Files.AUTO, 15L << 20, 1L << 30);

    /** When an output becomes a file. */
    public enum Files {
      /** If both together are too long: the larger one, then the other one if necessary. */
      AUTO,
      /** Always. */
      ALWAYS,
      /** Never: output that does not fit into the text is dropped. */
      NEVER
    }

    /**
     * Checks the limits.
     *
     * @throws InvalidRequestException when one is negative
     */
    public OutputLimits {
      if (textBytes < 0 || maxBytes < 0) {
        throw new InvalidRequestException("output", "limits of output are not negative");
      }
    }
  }
}
