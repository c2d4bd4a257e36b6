package io.millrace.client;

import io.millrace.blobs.Blob;
import io.millrace.blobs.BlobException;
import io.millrace.blobs.BlobReceipt;
import java.io.InputStream;
import java.util.Iterator;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Supplier;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.MappingIterator;
import tools.jackson.databind.json.JsonMapper;

/** The JSON in the answers about blobs. Methods throw {@link BlobException} if it is malformed. */
final class BlobJson {
  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .disable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
          .enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
          .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
          .build();

  private BlobJson() {}

  /**
   * Reads the answer to a put.
   *
   * @param what what failed if this fails
   */
  static BlobReceipt receipt(InputStream body, String what) {
    return parsed(() -> MAPPER.readValue(body, BlobReceipt.class), what);
  }

  /**
   * The elements of {@code blobs}, parsed one by one as the stream is read. An answer that breaks
   * off is an error, and not a shorter listing.
   *
   * @param what what failed if this fails
   */
  static Stream<Blob> listing(InputStream body, String what) {
    JsonParser parser = parsed(() -> MAPPER.createParser(body), what);
    MappingIterator<Blob> blobs =
        parsed(
            () -> {
              if (parser.nextToken() != JsonToken.START_OBJECT
                  || !"blobs".equals(parser.nextName())
                  || parser.nextToken() != JsonToken.START_ARRAY) {
                parser.close();
                throw new BlobException(what + ": the answer does not start with {\"blobs\":[");
              }
              parser.clearCurrentToken();
              return MAPPER.readerFor(Blob.class).readValues(parser);
            },
            what);
    Iterator<Blob> checked =
        new Iterator<>() {
          @Override
          public boolean hasNext() {
            return parsed(blobs::hasNextValue, what);
          }

          @Override
          public Blob next() {
            return parsed(blobs::nextValue, what);
          }
        };
    return StreamSupport.stream(
            Spliterators.spliteratorUnknownSize(checked, Spliterator.ORDERED | Spliterator.NONNULL),
            false)
        .onClose(parser::close);
  }

  private static <T> T parsed(Supplier<T> reading, String what) {
    try {
      return reading.get();
    } catch (JacksonException e) {
      throw new BlobException(what + ": its answer cannot be read: " + e.getMessage(), e);
    }
  }
}
