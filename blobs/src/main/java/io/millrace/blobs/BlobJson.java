package io.millrace.blobs;

import java.io.IOException;
import java.io.InputStream;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** The JSON that a server of blobs answers. */
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

  static BlobReceipt receipt(InputStream body) throws IOException {
    try {
      return MAPPER.readValue(body, BlobReceipt.class);
    } catch (JacksonException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  /** The elements of {@code blobs}, parsed one by one as the stream is read. */
  static Stream<Blob> listing(InputStream body, String what) {
    try {
      JsonParser parser = MAPPER.createParser(body);
      if (parser.nextToken() != JsonToken.START_OBJECT
          || !"blobs".equals(parser.nextName())
          || parser.nextToken() != JsonToken.START_ARRAY) {
        parser.close();
        throw new BlobException(what + ": the answer does not start with {\"blobs\":[");
      }
      return StreamSupport.stream(
              Spliterators.spliteratorUnknownSize(
                  new Elements(parser, what), Spliterator.ORDERED | Spliterator.NONNULL),
              false)
          .onClose(parser::close);
    } catch (JacksonException e) {
      throw new BlobException(what + ": " + e.getMessage(), e);
    }
  }

  /** Ends only with the array: an answer that breaks off is an error, not a shorter listing. */
  private record Elements(JsonParser parser, String what) implements Iterator<Blob> {
    @Override
    public boolean hasNext() {
      try {
        return parser.currentToken() != JsonToken.END_ARRAY
            && (parser.currentToken() == JsonToken.START_OBJECT
                || parser.nextToken() != JsonToken.END_ARRAY);
      } catch (JacksonException e) {
        throw failed(e);
      }
    }

    @Override
    public Blob next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      try {
        Blob blob = MAPPER.readValue(parser, Blob.class);
        parser.clearCurrentToken();
        return blob;
      } catch (JacksonException e) {
        throw failed(e);
      }
    }

    private BlobException failed(JacksonException e) {
      return new BlobException(what + ": " + e.getMessage(), e);
    }
  }
}
