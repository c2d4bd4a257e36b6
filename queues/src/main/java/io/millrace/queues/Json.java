package io.millrace.queues;

import io.millrace.store.Bytes;
import io.millrace.work.BraceEscapes;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.util.RawValue;

/** The JSON of stored documents, with {@link BraceEscapes}. */
public final class Json {
  private static final JsonMapper MAPPER =
      JsonMapper.builder(
              JsonFactory.builder()
                  .characterEscapes(new BraceEscapes())
                  .rootValueSeparator("")
                  .build())
          // Fractions keep their digits.
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .build();

  /** Reads a value that others follow. */
  private static final ObjectReader PART =
      MAPPER.reader().without(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  private Json() {}

  /** An object without fields. */
  public static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  /** The id that the store gives to the task added under {@code localName}. */
  public static void putAdded(ObjectNode target, String field, String localName) {
    target.putRawValue(field, new RawValue(reference(localName)));
  }

  /** The bytes of a document. */
  public static Bytes write(ObjectNode document) {
    return Bytes.copyOf(MAPPER.writeValueAsBytes(document));
  }

  /** A text as documents have it, with its quotes. */
  public static String quoted(String text) {
    return MAPPER.writeValueAsString(text);
  }

  /** Writes documents field by field, which is cheaper if there are many. */
  public static DocumentWriter writer() {
    return new DocumentWriter(MAPPER::createGenerator);
  }

  /** The same with a generator. */
  public static void putAdded(JsonGenerator target, String field, String localName) {
    target.writeName(field);
    target.writeRawValue(reference(localName));
  }

  private static String reference(String localName) {
    return "{{" + localName + "}}";
  }

  /** Reads some fields of the output of {@link #write}, which takes less time than all of them. */
  public static ObjectNode read(Bytes body, Set<String> fields) {
    ObjectNode some = MAPPER.createObjectNode();
    try (JsonParser parser = MAPPER.createParser(body.toArray())) {
      parser.nextToken();
      for (String name = parser.nextName();
          name != null && some.size() < fields.size();
          name = parser.nextName()) {
        parser.nextToken();
        if (fields.contains(name)) {
          some.set(name, PART.readTree(parser));
        } else {
          parser.skipChildren();
        }
      }
    } catch (JacksonException e) {
      throw damaged(e);
    }
    return some;
  }

  private static QueuesException damaged(JacksonException e) {
    return new QueuesException("a document of queues is damaged: " + e.getOriginalMessage(), e);
  }

  /** Reads the output of {@link #write}. */
  public static ObjectNode read(Bytes body) {
    try {
      JsonNode node = MAPPER.readTree(body.toArray());
      if (node instanceof ObjectNode object) {
        return object;
      }
    } catch (JacksonException e) {
      throw damaged(e);
    }
    throw new QueuesException("a document of queues is damaged: it is no object");
  }

  /** A text; null if the field is absent or null. */
  public static @Nullable String text(ObjectNode source, String field) {
    JsonNode value = source.get(field);
    return value == null || value.isNull() ? null : value.asString();
  }

  /** A number; null if the field is absent or null. */
  public static @Nullable Integer integer(ObjectNode source, String field) {
    JsonNode value = source.get(field);
    return value == null || value.isNull() ? null : value.asInt();
  }

  /**
   * Writes documents one after the other, without creating a generator for each. For one thread.
   */
  public static final class DocumentWriter implements AutoCloseable {
    private final Written written = new Written();
    private final JsonGenerator json;

    /**
     * Begins without documents.
     *
     * @param generator makes a generator for a stream, with nothing between values
     */
    DocumentWriter(Function<OutputStream, JsonGenerator> generator) {
      json = generator.apply(written);
    }

    /** Gives access to its bytes, which a stream of the JDK would copy. */
    private static final class Written extends ByteArrayOutputStream {
      Bytes taken() {
        Bytes taken = Bytes.from(ByteBuffer.wrap(buf, 0, count));
        reset();
        return taken;
      }
    }

    /** A document with the fields that {@code fields} writes. */
    public Bytes write(Consumer<JsonGenerator> fields) {
      json.writeStartObject();
      fields.accept(json);
      json.writeEndObject();
      json.flush();
      return written.taken();
    }

    /** Gives back what others may write with. */
    @Override
    public void close() {
      json.close();
    }
  }
}
