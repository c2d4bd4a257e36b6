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

/** Reads what is given on a command line as text. */
public final class Arguments {
  private static final JsonMapper JSON =
      JsonMapper.builder().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS).build();

  private Arguments() {}

  /**
   * An object of {@code key=value}, with values as {@link #value} reads them.
   *
   * @throws UsageException if one has no {@code =}, or no key before it, or a key comes twice
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
   * What stands before and after the first {@code =}.
   *
   * @param form what messages call the form, for example {@code --env NAME=VALUE}
   * @throws UsageException if there is none, or nothing before it
   */
  public static Map.Entry<String, String> pair(String form, String text) {
    int equals = text.indexOf('=');
    if (equals <= 0) {
      throw new UsageException("expected " + form + ", not '" + text + "'");
    }
    return Map.entry(text.substring(0, equals), text.substring(equals + 1));
  }

  /**
   * The text of a file.
   *
   * @param option what messages begin with, for example {@code --stdin: }
   * @param file its name; - for standard input
   * @throws UsageException if it cannot be read, or is no text in UTF-8
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

  /** A value: JSON, for example {@code 5}, {@code true} or {@code ["a"]}; otherwise text. */
  public static JsonNode value(String text) {
    try {
      JsonNode value = JSON.readTree(text);
      return value.isMissingNode() ? StringNode.valueOf(text) : value;
    } catch (JacksonException _) {
      return StringNode.valueOf(text);
    }
  }

  /**
   * Text that must be a JSON object.
   *
   * @param what what messages call it
   * @throws UsageException if it is none
   */
  public static ObjectNode parseObject(String what, String text) {
    if (value(text) instanceof ObjectNode object) {
      return object;
    }
    throw new UsageException(what + " must be a JSON object, not " + text);
  }

  /**
   * A limit as the server takes it: a number from 0, or null for {@code none}.
   *
   * @throws UsageException if it is neither
   */
  public static JsonNode limit(String option, String text) {
    return text.equals("none") || text.equals("null")
        ? NullNode.getInstance()
        : IntNode.valueOf(count(option, text, "none or a number from 0"));
  }

  /**
   * A number from 0.
   *
   * @throws UsageException if it is none
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
      // Said below, as for a negative number.
    }
    throw new UsageException(
        option + " is " + wanted + " to " + Integer.MAX_VALUE + ", not '" + text + "'");
  }

  /**
   * The arguments in order, and in place of {@code -} the lines of standard input that are not
   * blank, without the white space around them.
   *
   * @param check gives each as it is to be used
   * @throws UsageException if {@code check} throws it
   */
  public static List<String> lines(
      List<String> arguments, Terminal terminal, UnaryOperator<String> check) {
    List<String> read = new ArrayList<>();
    for (String argument : arguments) {
      if (argument.equals("-")) {
        // Not closed, since it is not ours to close.
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
