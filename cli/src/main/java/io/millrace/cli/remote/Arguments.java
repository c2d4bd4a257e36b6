package io.millrace.cli.remote;

import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.IntNode;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/** Parses arguments of a command line. */
public final class Arguments {
  private static final JsonMapper JSON =
      JsonMapper.builder().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS).build();

  private Arguments() {}

  /**
   * Parses {@code key=value} arguments to an object, each value as {@link #value} does.
   *
   * @throws UsageException if an argument has no {@code =} or no key, or a key is given twice
   */
  public static ObjectNode object(List<String> pairs) {
    ObjectNode object = JSON.createObjectNode();
    for (String pair : pairs) {
      Map.Entry<String, String> parts = pair("key=value", pair);
      if (object.has(parts.getKey())) {
        throw new UsageException("'" + parts.getKey() + "' is given twice");
      }
      object.set(parts.getKey(), value(parts.getValue()));
    }
    return object;
  }

  /**
   * Splits a text at the first {@code =}.
   *
   * @param form the expected form, for messages, for example {@code --env NAME=VALUE}
   * @throws UsageException if there is no {@code =}, or nothing before it
   */
  public static Map.Entry<String, String> pair(String form, String text) {
    int equals = text.indexOf('=');
    if (equals <= 0) {
      throw new UsageException("expected " + form + ", not '" + text + "'");
    }
    return Map.entry(text.substring(0, equals), text.substring(equals + 1));
  }

  /**
   * Reads a text file.
   *
   * @param option the prefix of messages, for example {@code --stdin: }
   * @param file the name of the file; - for standard input
   * @throws UsageException if it cannot be read or is not UTF-8
   */
  public static String text(String option, String file, Terminal terminal) {
    try {
      byte[] bytes;
      if (file.equals("-")) {
        bytes = terminal.in().readAllBytes();
      } else {
        Path path = Path.of(file);
        if (Files.isDirectory(path)) {
          throw new UsageException(option + file + " is a folder, not a file");
        }
        if (!Files.isReadable(path)) {
          throw new UsageException(option + "there is no file " + file + " that can be read");
        }
        bytes = Files.readAllBytes(path);
      }
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw new UsageException(option + file + " is not text in UTF-8", e);
    } catch (IOException | InvalidPathException e) {
      throw new UsageException(option + file + " cannot be read: " + e.getMessage(), e);
    }
  }

  /**
   * Parses a value as JSON, for example {@code 5}, {@code true} or {@code ["a"]}; as text if it is
   * not JSON.
   */
  public static JsonNode value(String text) {
    try {
      JsonNode value = JSON.readTree(text);
      return value.isMissingNode() ? StringNode.valueOf(text) : value;
    } catch (JacksonException _) {
      return StringNode.valueOf(text);
    }
  }

  /**
   * Parses a JSON object.
   *
   * @param what its name in messages
   * @throws UsageException if it is not a JSON object
   */
  public static ObjectNode parseObject(String what, String text) {
    if (value(text) instanceof ObjectNode object) {
      return object;
    }
    throw new UsageException(what + " must be a JSON object, not " + text);
  }

  /**
   * Parses a limit: a number from 0, or {@code none}, which becomes null.
   *
   * @throws UsageException if it is neither
   */
  public static JsonNode limit(String option, String text) {
    return text.equals("none") || text.equals("null")
        ? NullNode.getInstance()
        : IntNode.valueOf(count(option, text, "none or a number from 0"));
  }

  /**
   * Parses a number from 0.
   *
   * @throws UsageException if it is not such a number
   */
  public static int count(String option, String text) {
    return count(option, text, "a number from 0");
  }

  private static int count(String option, String text, String wanted) {
    try {
      int count = Integer.parseInt(text);
      if (count >= 0) {
        return count;
      }
    } catch (NumberFormatException _) {
      // Reported below, like a negative number.
    }
    throw new UsageException(
        option + " is " + wanted + " to " + Integer.MAX_VALUE + ", not '" + text + "'");
  }

  /**
   * The arguments in order. {@code -} is replaced by the lines of standard input, stripped and
   * without blank lines.
   *
   * @param check checks and converts each argument
   * @throws UsageException thrown by {@code check}
   */
  public static List<String> lines(
      List<String> arguments, Terminal terminal, UnaryOperator<String> check) {
    List<String> read = new ArrayList<>();
    for (String argument : arguments) {
      if (argument.equals("-")) {
        // Standard input stays open.
        new BufferedReader(new InputStreamReader(terminal.in(), StandardCharsets.UTF_8))
            .lines()
            .map(String::strip)
            .filter(line -> !line.isEmpty())
            .forEach(line -> read.add(check.apply(line)));
      } else {
        read.add(check.apply(argument));
      }
    }
    return read;
  }
}
