package io.millrace.cli.remote;

import io.millrace.cli.terminal.UsageException;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/**
 * Values on a command line: what is JSON is taken as JSON, as {@code 5}, {@code true} or {@code
 * ["a"]}, and everything else as text.
 */
public final class KeyValues {
  private static final JsonMapper JSON =
      JsonMapper.builder().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS).build();

  private KeyValues() {}

  /**
   * An object of {@code key=value}.
   *
   * @throws UsageException when one has no {@code =}, or no key before it, or a key comes twice
   */
  public static ObjectNode object(List<String> pairs) {
    ObjectNode object = JSON.createObjectNode();
    for (String pair : pairs) {
      int equals = pair.indexOf('=');
      if (equals <= 0) {
        throw new UsageException("expected key=value, not '" + pair + "'");
      }
      String key = pair.substring(0, equals);
      if (object.has(key)) {
        throw new UsageException("'" + key + "' is given twice");
      }
      object.set(key, value(pair.substring(equals + 1)));
    }
    return object;
  }

  /** One value. */
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
   * @param what how it is called in messages
   * @throws UsageException when it is none
   */
  public static ObjectNode parseObject(String what, String text) {
    if (value(text) instanceof ObjectNode object) {
      return object;
    }
    throw new UsageException(what + " must be a JSON object, not " + text);
  }
}
