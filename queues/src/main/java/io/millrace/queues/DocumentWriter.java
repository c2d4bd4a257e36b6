package io.millrace.queues;

import io.millrace.store.Bytes;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import java.util.function.Function;
import tools.jackson.core.JsonGenerator;

/** Writes documents one after the other, with nothing made anew for each. For one thread. */
final class DocumentWriter implements AutoCloseable {
  private final Written written = new Written();
  private final JsonGenerator json;

  /**
   * Nothing written yet.
   *
   * @param generator makes what writes JSON to a stream, with nothing between values
   */
  DocumentWriter(Function<OutputStream, JsonGenerator> generator) {
    json = generator.apply(written);
  }

  /** Lends its bytes, which a stream of the JDK copies. */
  private static final class Written extends ByteArrayOutputStream {
    Bytes taken() {
      Bytes taken = Bytes.from(ByteBuffer.wrap(buf, 0, count));
      reset();
      return taken;
    }
  }

  /** A document with the fields that are written to what {@code fields} gets. */
  Bytes write(Consumer<JsonGenerator> fields) {
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
