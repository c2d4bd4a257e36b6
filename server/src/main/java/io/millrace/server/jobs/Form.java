package io.millrace.server.jobs;

import io.millrace.http.Request;
import io.millrace.http.message.HttpProblem;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.commons.fileupload2.core.AbstractFileUpload;
import org.apache.commons.fileupload2.core.DiskFileItem;
import org.apache.commons.fileupload2.core.DiskFileItemFactory;
import org.apache.commons.fileupload2.core.FileItemInput;
import org.apache.commons.fileupload2.core.FileItemInputIterator;
import org.apache.commons.fileupload2.core.RequestContext;
import org.jspecify.annotations.Nullable;

/** A multipart form, read part by part as it arrives. For use by one thread. */
record Form(Source source, FileItemInputIterator parts) {
  private static final String TYPE = "multipart/form-data";

  /**
   * The form in a request.
   *
   * @throws HttpProblem 400 if there is none
   * @throws IOException if the client stops sending
   */
  static Form of(Request request) throws IOException {
    if (!request.mediaType().equals(TYPE)) {
      throw HttpProblem.malformed(
          "a job is submitted as " + TYPE + " with the fields Payload and Priority");
    }
    Source source = new Source(request);
    try {
      return new Form(source, new Reader().getItemIterator(source));
    } catch (IOException | RuntimeException e) {
      throw source.meaning(e);
    }
  }

  /** The next field; null at the end. The rest of the last one is skipped. */
  @Nullable Field next() throws IOException {
    try {
      return parts.hasNext() ? new Field(this, parts.next()) : null;
    } catch (IOException | RuntimeException e) {
      throw source.meaning(e);
    }
  }

  /**
   * The problem that a failure to read a part stands for.
   *
   * @return a problem to be thrown
   * @throws IOException if the connection has failed
   */
  HttpProblem meaning(Exception failure) throws IOException {
    return source.meaning(failure);
  }

  record Field(Form form, FileItemInput part) {
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
     * @throws HttpProblem 400 if it is longer than this, or not UTF-8
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

  /** The library's reader of forms, which returns each part as a stream and stores none. */
  private static final class Reader
      extends AbstractFileUpload<Source, DiskFileItem, DiskFileItemFactory> {
    private static final int MOST_HEADER_BYTES = 8 << 10;

    Reader() {
      setMaxPartHeaderSize(MOST_HEADER_BYTES);
      setHeaderCharset(StandardCharsets.UTF_8);
    }

    @Override
    public FileItemInputIterator getItemIterator(Source source) throws IOException {
      return getItemIterator((RequestContext) source);
    }

    @Override
    public Map<String, List<DiskFileItem>> parseParameterMap(Source source) {
      throw new UnsupportedOperationException("parts are not kept");
    }

    @Override
    public List<DiskFileItem> parseRequest(Source source) {
      throw new UnsupportedOperationException("parts are not kept");
    }
  }

  /**
   * A request in the form that the library needs. Tells failures of the connection from those of
   * the form.
   */
  private static final class Source implements RequestContext {
    private final Request request;
    private final NotingStream body;

    Source(Request request) {
      this.request = request;
      this.body = new NotingStream(request.bodyStream());
    }

    /**
     * The problem that a failure to read stands for.
     *
     * @return a problem to be thrown
     * @throws IOException if the connection has failed
     */
    HttpProblem meaning(Exception failure) throws IOException {
      IOException cut = body.failure();
      if (cut != null) {
        throw cut;
      }
      return failure instanceof HttpProblem problem
          ? problem
          : HttpProblem.malformed("the form is malformed: " + failure.getMessage());
    }

    @Override
    public String getCharacterEncoding() {
      return StandardCharsets.UTF_8.name();
    }

    @Override
    public long getContentLength() {
      return request.bodyLength();
    }

    @Override
    public String getContentType() {
      return request.header("Content-Type").orElse("");
    }

    @Override
    public InputStream getInputStream() {
      return body;
    }

    @Override
    public boolean isMultipartRelated() {
      return false;
    }
  }
}
