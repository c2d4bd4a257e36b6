package io.millrace.cli.graph.file;

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

/** A value in a file, with the line on which it begins, from 1. */
sealed interface Yaml {
  int line();

  /** The same as JSON. */
  JsonNode json();

  /**
   * Text, a number, true, false or null.
   *
   * @param text as it is written
   */
  record Scalar(int line, String text, JsonNode json) implements Yaml {}

  /** A list. */
  record Items(int line, List<Yaml> items) implements Yaml {
    /** Copies the items. */
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
    /** Copies the fields. */
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
   * @param line that of the key
   */
  record Field(int line, String key, Yaml value) {}

  /** Whether nothing was written here. */
  default boolean isNull() {
    return this instanceof Scalar scalar && scalar.json.isNull();
  }

  /** Reads YAML 1.2, and so JSON, keeping the lines. */
  static final class YamlReader {
    private static final int LONGEST = 1 << 28;
    private static final int MOST_ALIASES = 10_000;

    /** Aliases make much of little: what they stand for counts each time. */
    private static final int MOST_VALUES = 5_000_000;

    private static final int DEEPEST = 100;

    private int values;

    private YamlReader() {}

    /**
     * Reads a file.
     *
     * @return its value; null where it is empty
     * @throws GraphFileException when it is no YAML
     */
    static @Nullable Yaml read(String text) {
      LoadSettings settings =
          LoadSettings.builder()
              .setCodePointLimit(LONGEST)
              .setMaxAliasesForCollections(MOST_ALIASES)
              .build();
      try {
        Node root = new Compose(settings).composeString(text).orElse(null);
        return root == null ? null : new YamlReader().convert(root, 0);
      } catch (MarkedYamlEngineException e) {
        int line = e.getProblemMark().map(mark -> mark.getLine() + 1).orElse(1);
        throw new GraphFileException(
            new GraphFileException.Mistake(line, "not YAML: " + e.getProblem()));
      } catch (YamlEngineException e) {
        throw new GraphFileException(
            new GraphFileException.Mistake(1, "not YAML: " + e.getMessage()));
      }
    }

    private Yaml convert(Node node, int depth) {
      int line = line(node);
      values++;
      if (values > MOST_VALUES || depth > DEEPEST) {
        throw new GraphFileException(
            new GraphFileException.Mistake(
                line, depth > DEEPEST ? "nested too deeply" : "too much in one file"));
      }
      return switch (node) {
        case MappingNode mapping -> {
          List<Yaml.Field> fields = new ArrayList<>();
          for (NodeTuple tuple : mapping.getValue()) {
            fields.add(field(tuple, depth));
          }
          yield new Yaml.Fields(line, fields);
        }
        case SequenceNode sequence -> {
          List<Yaml> items = new ArrayList<>();
          for (Node item : sequence.getValue()) {
            items.add(convert(item, depth + 1));
          }
          yield new Yaml.Items(line, items);
        }
        case ScalarNode scalar -> new Yaml.Scalar(line, scalar.getValue(), json(scalar, line));
        default ->
            throw new GraphFileException(new GraphFileException.Mistake(line, "not understood"));
      };
    }

    private Yaml.Field field(NodeTuple tuple, int depth) {
      if (!(tuple.getKeyNode() instanceof ScalarNode key)) {
        throw new GraphFileException(
            new GraphFileException.Mistake(line(tuple.getKeyNode()), "a key must be text"));
      }
      return new Yaml.Field(line(key), key.getValue(), convert(tuple.getValueNode(), depth + 1));
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
        throw new GraphFileException(
            new GraphFileException.Mistake(line, "'" + text + "' is no number"));
      }
      return json.stringNode(text);
    }
  }
}
