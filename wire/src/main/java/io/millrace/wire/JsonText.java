package io.millrace.wire;

import io.millrace.store.Bytes;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.util.BufferRecycler;
import tools.jackson.core.util.JsonRecyclerPools;
import tools.jackson.core.util.RecyclerPool;

/** Writes JSON, and has the settings for reading it. */
final class JsonText {
  /** Deeper than any form of this package, so that deeply nested input is refused early. */
  private static final int MAX_NESTING = 16;

  static final JsonFactory FACTORY =
      JsonFactory.builder()
          .recyclerPool(new Buffers())
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .disable(StreamWriteFeature.AUTO_CLOSE_TARGET)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(MAX_NESTING)
                  .maxNameLength(1_000)
                  .maxStringLength(Integer.MAX_VALUE)
                  .build())
          .build();

  private JsonText() {}

  /**
   * The buffers for reading and writing. Each platform thread has its own. Virtual threads share a
   * pool, because one often serves only one request.
   */
  private static final class Buffers implements RecyclerPool<BufferRecycler> {
    private static final RecyclerPool<BufferRecycler> OWN = JsonRecyclerPools.threadLocalPool();
    private static final RecyclerPool<BufferRecycler> SHARED =
        JsonRecyclerPools.newConcurrentDequePool();

    private static RecyclerPool<BufferRecycler> ofThisThread() {
      return Thread.currentThread().isVirtual() ? SHARED : OWN;
    }

    @Override
    public BufferRecycler acquireAndLinkPooled() {
      return ofThisThread().acquireAndLinkPooled();
    }

    @Override
    public BufferRecycler acquirePooled() {
      return ofThisThread().acquirePooled();
    }

    @Override
    public void releasePooled(BufferRecycler buffers) {
      ofThisThread().releasePooled(buffers);
    }
  }

  /** Returns the bytes that {@code form} writes. */
  static byte[] write(Consumer<JsonGenerator> form) {
    ByteArrayOutputStream target = new ByteArrayOutputStream(512);
    write(target, form);
    return target.toByteArray();
  }

  /** Writes to {@code target} and leaves it open. */
  static void write(OutputStream target, Consumer<JsonGenerator> form) {
    try (JsonGenerator json = FACTORY.createGenerator(ObjectWriteContext.empty(), target)) {
      form.accept(json);
    } catch (JacksonException e) {
      throw new WireException("cannot be written as JSON: " + e.getOriginalMessage(), e);
    }
  }

  /** Writes a field that is a list. */
  static <T> void list(
      JsonGenerator json, String name, Iterable<T> elements, BiConsumer<JsonGenerator, T> element) {
    json.writeName(name);
    list(json, elements, element);
  }

  /** Writes a field that is a list, unless the list is empty. */
  static <T> void listIfAny(
      JsonGenerator json, String name, List<T> elements, BiConsumer<JsonGenerator, T> element) {
    if (!elements.isEmpty()) {
      list(json, name, elements, element);
    }
  }

  /** Writes a list. */
  static <T> void list(
      JsonGenerator json, Iterable<T> elements, BiConsumer<JsonGenerator, T> element) {
    json.writeStartArray();
    for (T each : elements) {
      element.accept(json, each);
    }
    json.writeEndArray();
  }

  /**
   * Writes bytes as a string under {@code name} if they are UTF-8 and the form is text, otherwise
   * as base64 under {@code name64}.
   */
  static void data(JsonGenerator json, String name, String name64, Bytes data, DataForm form) {
    byte[] content = data.toArray();
    if (form == DataForm.TEXT) {
      if (isAscii(content)) {
        json.writeName(name);
        json.writeUTF8String(content, 0, content.length);
        return;
      }
      try {
        String text = StandardCharsets.UTF_8.newDecoder().decode(data.buffer()).toString();
        json.writeStringProperty(name, text);
        return;
      } catch (CharacterCodingException _) {
        // Not text.
      }
    }
    json.writeStringProperty(name64, Base64.getEncoder().encodeToString(content));
  }

  /**
   * The text with unpaired surrogates replaced, for a message that may quote what a client sent.
   */
  static String wellFormed(String message) {
    return new String(message.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
  }

  private static boolean isAscii(byte[] content) {
    int all = 0;
    for (byte one : content) {
      all |= one;
    }
    return all >= 0;
  }
}
