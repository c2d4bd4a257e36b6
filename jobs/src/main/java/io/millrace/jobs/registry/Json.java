package io.millrace.jobs.registry;

import com.fasterxml.jackson.annotation.JsonInclude.Include;
import io.millrace.jobs.JobsException;
import io.millrace.store.Bytes;
import io.millrace.work.BraceEscapes;
import java.io.OutputStream;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** The JSON of stored documents, with {@link BraceEscapes}. */
final class Json {
  private static final JsonMapper MAPPER =
      JsonMapper.builder(JsonFactory.builder().characterEscapes(new BraceEscapes()).build())
          .changeDefaultPropertyInclusion(each -> each.withValueInclusion(Include.NON_NULL))
          .build();

  private Json() {}

  static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  static Bytes write(ObjectNode document) {
    return Bytes.copyOf(MAPPER.writeValueAsBytes(document));
  }

  /** An object as text. */
  static String text(ObjectNode object) {
    return MAPPER.writeValueAsString(object);
  }

  /** A text as documents have it, with its quotes. */
  static String quoted(String text) {
    return MAPPER.writeValueAsString(text);
  }

  /** Writes a document field by field, without a tree in between. */
  static JsonGenerator generator(OutputStream target) {
    return MAPPER.createGenerator(target);
  }

  /** The document of a record, without the components that are null. */
  static Bytes bind(Record value) {
    return Bytes.copyOf(MAPPER.writeValueAsBytes(value));
  }

  /** Reads what {@link #bind} wrote. */
  static <T extends Record> T bound(Bytes body, Class<T> type) {
    return parse(body, json -> MAPPER.treeToValue(json, type));
  }

  /** The object that a payload is; empty if it is none. */
  static Optional<ObjectNode> object(byte[] payload) {
    try {
      return Optional.of(MAPPER.readTree(payload))
          .filter(ObjectNode.class::isInstance)
          .map(ObjectNode.class::cast);
    } catch (JacksonException _) {
      return Optional.empty();
    }
  }

  static ObjectNode read(Bytes body) {
    return parse(body, json -> json);
  }

  private static <T> T parse(Bytes body, Function<ObjectNode, T> reading) {
    try {
      if (MAPPER.readTree(body.toArray()) instanceof ObjectNode object) {
        return reading.apply(object);
      }
    } catch (JacksonException e) {
      throw damaged(e);
    }
    throw new JobsException("a document of jobs is damaged: it is no object");
  }

  private static JobsException damaged(JacksonException e) {
    return new JobsException("a document of jobs is damaged: " + e.getOriginalMessage(), e);
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
      throw damaged(e);
    }
    return found;
  }

  /** Leaves the field out if there is no value. */
  static void put(ObjectNode target, String field, @Nullable String value) {
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
