package io.millrace.jobs;

import io.millrace.store.Bytes;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.SerializableString;
import tools.jackson.core.io.CharacterEscapes;
import tools.jackson.core.io.SerializedString;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.util.RawValue;

/**
 * The JSON of stored documents. The store replaces {@code {{name}}} in templates, so opening braces
 * inside strings are written as escapes: no text of a user can look like that.
 */
final class Json {
  private static final JsonMapper MAPPER =
      JsonMapper.builder(JsonFactory.builder().characterEscapes(new BraceEscapes()).build())
          .build();

  private Json() {}

  private static final class BraceEscapes extends CharacterEscapes {
    private static final long serialVersionUID = 1;
    private static final SerializableString ESCAPED = new SerializedString("\\u007b");

    private final int[] codes = standardAsciiEscapesForJSON();

    BraceEscapes() {
      codes['{'] = ESCAPE_CUSTOM;
    }

    @Override
    public int[] getEscapeCodesForAscii() {
      return codes;
    }

    @Override
    public @Nullable SerializableString getEscapeSequence(int character) {
      return character == '{' ? ESCAPED : null;
    }
  }

  static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  static Bytes write(ObjectNode document) {
    return Bytes.copyOf(MAPPER.writeValueAsBytes(document));
  }

  /** Reads what {@link #write} wrote. */
  static ObjectNode read(Bytes body) {
    try {
      if (MAPPER.readTree(body.toArray()) instanceof ObjectNode object) {
        return object;
      }
    } catch (JacksonException e) {
      throw new JobsException("a document of jobs is damaged: " + e.getOriginalMessage(), e);
    }
    throw new JobsException("a document of jobs is damaged: it is no object");
  }

  /** The values of these fields, all of them texts, read no further than to the last. */
  static Map<String, String> texts(Bytes body, Set<String> fields) {
    Map<String, String> found = new HashMap<>();
    try (JsonParser json = MAPPER.createParser(body.toArray())) {
      json.nextToken();
      while (found.size() < fields.size() && json.nextToken() == JsonToken.PROPERTY_NAME) {
        String name = json.currentName();
        json.nextToken();
        if (fields.contains(name)) {
          found.put(name, json.getString());
        } else {
          json.skipChildren();
        }
      }
    } catch (JacksonException e) {
      throw new JobsException("a document of jobs is damaged: " + e.getOriginalMessage(), e);
    }
    return found;
  }

  /** The id that the store gives to the task added or taken under {@code localName}. */
  static void putId(ObjectNode target, String field, String localName) {
    target.putRawValue(field, new RawValue("{{" + localName + "}}"));
  }

  /** Leaves the field out where there is nothing. */
  static void put(ObjectNode target, String field, @Nullable String value) {
    if (value != null) {
      target.put(field, value);
    }
  }

  /** Leaves the field out where there is nothing. */
  static void put(ObjectNode target, String field, @Nullable Long value) {
    if (value != null) {
      target.put(field, value);
    }
  }

  static @Nullable String text(ObjectNode source, String field) {
    JsonNode value = source.get(field);
    return value == null || value.isNull() ? null : value.asString();
  }

  static @Nullable Long number(ObjectNode source, String field) {
    JsonNode value = source.get(field);
    return value == null || value.isNull() ? null : value.asLong();
  }
}
