package io.millrace.cli.graph;

import io.millrace.cli.remote.KeyValues;
import io.millrace.cli.terminal.Durations;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.DecimalNode;
import tools.jackson.databind.node.ObjectNode;

/** The data of a new node, as options. */
final class DataOptions {
  @Option(
      names = {"-e", "--env"},
      paramLabel = "NAME=VALUE",
      description = "A variable of its environment; may come several times.")
  private List<String> env = List.of();

  @Option(names = "--cwd", paramLabel = "DIR", description = "The folder that it starts in.")
  private @Nullable String cwd;

  @Option(
      names = "--stdin",
      paramLabel = "FILE",
      description = "A file of text for its standard input; - is the standard input here.")
  private @Nullable String stdin;

  @Option(
      names = "--retries",
      paramLabel = "N",
      description = "How often it is tried again when it fails. Default: 0")
  private @Nullable Integer retries;

  @Option(
      names = "--backoff",
      paramLabel = "TIME",
      converter = Durations.class,
      description = "How long after a failure; doubled each time. Default: 1s")
  private @Nullable Duration backoff;

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      converter = Durations.class,
      description = "How long an attempt may take. Default: no end")
  private @Nullable Duration timeout;

  @Option(
      names = {"-d", "--data"},
      paramLabel = "KEY=VALUE",
      description = {
        "Any data of it, with a value that is JSON or else text; KEY=@FILE takes the text of a"
            + " file."
      })
  private List<String> data = List.of();

  /**
   * Adds what was given to the data of a node.
   *
   * @throws UsageException when something of it makes no sense, or is given twice
   */
  void addTo(ObjectNode node, Terminal terminal) {
    if (!env.isEmpty()) {
      ObjectNode variables = node.putObject("env");
      for (String variable : env) {
        int equals = variable.indexOf('=');
        if (equals <= 0) {
          throw new UsageException("write --env NAME=VALUE, not '" + variable + "'");
        }
        String name = variable.substring(0, equals);
        if (variables.has(name)) {
          throw new UsageException("the variable '" + name + "' is given twice");
        }
        variables.put(name, variable.substring(equals + 1));
      }
    }
    if (cwd != null) {
      node.put("cwd", folder(cwd));
    }
    if (stdin != null) {
      node.put("stdin", text("--stdin", stdin, terminal));
    }
    if (retries != null) {
      node.put("retries", retries);
    }
    addSeconds(node, "backoff", backoff);
    addSeconds(node, "timeout", timeout);
    data.forEach(pair -> addPair(node, pair, terminal));
  }

  /**
   * Adds {@code KEY=VALUE}, as {@code --data} takes it.
   *
   * @throws UsageException when it is something else, or its key is there already
   */
  static void addPair(ObjectNode node, String pair, Terminal terminal) {
    int equals = pair.indexOf('=');
    if (equals <= 0) {
      throw new UsageException("write KEY=VALUE, not '" + pair + "'");
    }
    String key = pair.substring(0, equals);
    if (node.has(key)) {
      throw new UsageException("the data '" + key + "' is given twice");
    }
    String value = pair.substring(equals + 1);
    if (value.startsWith("@")) {
      node.put(key, text("--data " + key, value.substring(1), terminal));
    } else {
      node.set(key, KeyValues.value(value));
    }
  }

  private static void addSeconds(ObjectNode node, String key, @Nullable Duration time) {
    if (time != null) {
      node.set(key, seconds(time));
    }
  }

  /** A duration as the server takes it: a number of seconds. */
  static DecimalNode seconds(Duration time) {
    BigDecimal seconds = BigDecimal.valueOf(time.toMillis(), 3).stripTrailingZeros();
    return DecimalNode.valueOf(seconds.scale() < 0 ? seconds.setScale(0) : seconds);
  }

  /** The server may run elsewhere, so a folder is named from the top. */
  private static String folder(String cwd) {
    try {
      return Path.of(cwd).toAbsolutePath().normalize().toString();
    } catch (InvalidPathException e) {
      throw new UsageException("--cwd is no path: " + e.getMessage(), e);
    }
  }

  private static String text(String option, String file, Terminal terminal) {
    try {
      byte[] bytes;
      if (file.equals("-")) {
        bytes = terminal.in().readAllBytes();
      } else {
        Path path = Path.of(file);
        if (!Files.isReadable(path) || Files.isDirectory(path)) {
          throw new UsageException(option + ": there is no file " + file + " that can be read");
        }
        bytes = Files.readAllBytes(path);
      }
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw new UsageException(option + ": " + file + " is not text in UTF-8", e);
    } catch (IOException | InvalidPathException e) {
      throw new UsageException(option + ": " + file + " cannot be read: " + e.getMessage(), e);
    }
  }
}
