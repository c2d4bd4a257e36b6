package io.millrace.server.config;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * A value in a YAML file, with the line on which it begins. Reads the configuration and graph
 * files.
 */
public sealed interface Yaml {
  /**
   * Reads YAML 1.2, which includes JSON.
   *
   * @return null if the text is empty
   * @throws Mistake if it is not YAML
   */
  static @Nullable Yaml read(String text) {
    return Reader.read(text);
  }

  /** The line on which it begins, from 1. */
  int line();

  /** The same value as JSON. */
  JsonNode json();

  /**
   * Text, a number, true, false or null.
   *
   * @param text as it is written, without quotes
   * @param quoted whether it was written in quotes or as a block, which makes it text
   */
  record Scalar(int line, String text, boolean quoted, JsonNode json) implements Yaml {}

  /** A list. */
  record Items(int line, List<Yaml> items) implements Yaml {
    public Items {
      items = List.copyOf(items);
    }

    @Override
    public JsonNode json() {
      ArrayNode array = JsonNodeFactory.instance.arrayNode();
      items.forEach(item -> array.add(item.json()));
      return array;
    }
  }

  /** Values by key, in the order of the file; a key may occur twice. */
  record Fields(int line, List<Field> fields) implements Yaml {
    public Fields {
      fields = List.copyOf(fields);
    }

    @Override
    public JsonNode json() {
      ObjectNode object = JsonNodeFactory.instance.objectNode();
      fields.forEach(field -> object.set(field.key, field.value.json()));
      return object;
    }
  }

  /**
   * A key with its value.
   *
   * @param line the line of the key
   */
  record Field(int line, String key, Yaml value) {}

  /** Whether this is null, or a key without a value. */
  default boolean isNull() {
    return this instanceof Scalar scalar && scalar.json.isNull();
  }

  /** The text is not YAML, or is too large. */
  final class Mistake extends RuntimeException {
    private final int line;
    private final String problem;

    private Mistake(int line, String problem) {
      super("line " + line + ": " + problem);
      this.line = line;
      this.problem = problem;
    }

    /** The line that it is on, from 1. */
    public int line() {
      return line;
    }

    /** What is wrong on that line. */
    public String problem() {
      return problem;
    }
  }

  /** Converts the nodes of the library, within limits. */
  final class Reader {
    private static final int LONGEST = 1 << 28;
    private static final int MAX_ALIASES = 10_000;

    /**
     * Each use of an alias counts with its whole value, so that a small file cannot grow without
     * limit.
     */
    private static final int MAX_VALUES = 5_000_000;

    private static final int DEEPEST = 100;

    private int values;

    private Reader() {}

    private static @Nullable Yaml read(String text) {
      LoadSettings settings =
          LoadSettings.builder()
              .setCodePointLimit(LONGEST)
              .setMaxAliasesForCollections(MAX_ALIASES)
              .build();
      try {
        Node root = new Compose(settings).composeString(text).orElse(null);
        return root == null ? null : new Reader().convert(root, 0);
      } catch (MarkedYamlEngineException e) {
        int line = e.getProblemMark().map(mark -> mark.getLine() + 1).orElse(1);
        throw new Mistake(line, "not YAML: " + e.getProblem());
      } catch (YamlEngineException e) {
        throw new Mistake(1, "not YAML: " + e.getMessage());
      }
    }

    private Yaml convert(Node node, int depth) {
      int line = line(node);
      values++;
      if (values > MAX_VALUES || depth > DEEPEST) {
        throw new Mistake(line, depth > DEEPEST ? "nested too deeply" : "too much in one file");
      }
      return switch (node) {
        case MappingNode mapping -> {
          List<Field> fields = new ArrayList<>();
          for (NodeTuple tuple : mapping.getValue()) {
            fields.add(field(tuple, depth));
          }
          yield new Fields(line, fields);
        }
        case SequenceNode sequence -> {
          List<Yaml> items = new ArrayList<>();
          for (Node item : sequence.getValue()) {
            items.add(convert(item, depth + 1));
          }
          yield new Items(line, items);
        }
        case ScalarNode scalar ->
            new Scalar(line, scalar.getValue(), !scalar.isPlain(), json(scalar, line));
        default -> throw new Mistake(line, "not understood");
      };
    }

    private Field field(NodeTuple tuple, int depth) {
      if (!(tuple.getKeyNode() instanceof ScalarNode key)) {
        throw new Mistake(line(tuple.getKeyNode()), "a key must be text");
      }
      return new Field(line(key), key.getValue(), convert(tuple.getValueNode(), depth + 1));
    }

    private static int line(Node node) {
      return node.getStartMark().map(mark -> mark.getLine() + 1).orElse(1);
    }

    private static JsonNode json(ScalarNode scalar, int line) {
      JsonNodeFactory json = JsonNodeFactory.instance;
      String text = scalar.getValue();
      Tag tag = scalar.getTag();
      try {
        if (tag.equals(Tag.NULL)) {
          return json.nullNode();
        }
        if (tag.equals(Tag.BOOL)) {
          return json.booleanNode(Boolean.parseBoolean(text));
        }
        if (tag.equals(Tag.INT)) {
          BigInteger number = new BigInteger(text);
          return number.bitLength() < Long.SIZE
              ? json.numberNode(number.longValue())
              : json.numberNode(number);
        }
        if (tag.equals(Tag.FLOAT)) {
          return json.numberNode(new BigDecimal(text));
        }
      } catch (NumberFormatException _) {
        throw new Mistake(line, "'" + text + "' is no number");
      }
      return json.stringNode(text);
    }
  }
}
