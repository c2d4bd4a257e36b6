package io.millrace.server.jobs;

import io.millrace.server.http.HttpProblem;
import io.millrace.server.http.Request;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.apache.commons.fileupload2.core.RequestContext;
import org.jspecify.annotations.Nullable;

/**
 * A request as the library of forms wants to see it. Tells failures of the connection from those of
 * the form.
 */
final class FormSource implements RequestContext {
  private final Request request;
  private final Noting body;

  FormSource(Request request) {
    this.request = request;
    this.body = new Noting(request.bodyStream());
  }

  /**
   * What a failure to read means to the client.
   *
   * @return a problem to be thrown
   * @throws IOException where it is the connection that failed
   */
  HttpProblem meaning(Exception failure) throws IOException {
    IOException cut = body.failure;
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

  /** Remembers that the client stopped sending. */
  private static final class Noting extends InputStream {
    private final InputStream body;
    private @Nullable IOException failure;

    Noting(InputStream body) {
      this.body = body;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      try {
        return body.read(target, offset, length);
      } catch (IOException e) {
        failure = e;
        throw e;
      }
    }
  }
}
