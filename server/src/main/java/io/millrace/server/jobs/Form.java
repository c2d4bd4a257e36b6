package io.millrace.server.jobs;

import io.millrace.server.http.HttpProblem;
import io.millrace.server.http.Request;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.apache.commons.fileupload2.core.FileItemInput;
import org.apache.commons.fileupload2.core.FileItemInputIterator;
import org.jspecify.annotations.Nullable;

/** A multipart form, read part by part as it comes. For use by one thread. */
final class Form {
  private static final String TYPE = "multipart/form-data";

  private final FormSource source;
  private final FileItemInputIterator parts;

  private Form(FormSource source, FileItemInputIterator parts) {
    this.source = source;
    this.parts = parts;
  }

  /**
   * The form that a request brings.
   *
   * @throws HttpProblem 400 where it brings none
   * @throws IOException when the client stops sending
   */
  static Form of(Request request) throws IOException {
    if (!request.mediaType().equals(TYPE)) {
      throw HttpProblem.malformed(
          "a job is submitted as " + TYPE + " with the fields Payload and Priority");
    }
    FormSource source = new FormSource(request);
    try {
      return new Form(source, new FormReader().getItemIterator(source));
    } catch (IOException | RuntimeException e) {
      throw source.meaning(e);
    }
  }

  /** The next field; null at the end. What is left of the last one is skipped. */
  @Nullable Field next() throws IOException {
    try {
      return parts.hasNext() ? new Field(this, parts.next()) : null;
    } catch (IOException | RuntimeException e) {
      throw source.meaning(e);
    }
  }

  /**
   * What a failure to read a part means to the client.
   *
   * @return a problem to be thrown
   * @throws IOException where it is the connection that failed
   */
  HttpProblem meaning(Exception failure) throws IOException {
    return source.meaning(failure);
  }

  /** One field. */
  static final class Field {
    private final Form form;
    private final FileItemInput part;

    private Field(Form form, FileItemInput part) {
      this.form = form;
      this.part = part;
    }

    /** Its name in lower case. */
    String name() {
      return String.valueOf(part.getFieldName()).toLowerCase(Locale.ROOT);
    }

    InputStream content() throws IOException {
      try {
        return part.getInputStream();
      } catch (IOException | RuntimeException e) {
        throw form.meaning(e);
      }
    }

    /**
     * Its content as text.
     *
     * @throws HttpProblem 400 where it is longer, or not UTF-8
     */
    String text(int mostBytes) throws IOException {
      byte[] bytes;
      try {
        bytes = content().readNBytes(mostBytes + 1);
      } catch (IOException | RuntimeException e) {
        throw form.meaning(e);
      }
      if (bytes.length > mostBytes) {
        throw HttpProblem.malformed("the field " + name() + " is too long");
      }
      try {
        return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      } catch (CharacterCodingException _) {
        throw HttpProblem.malformed("the field " + name() + " is not UTF-8");
      }
    }
  }
}
