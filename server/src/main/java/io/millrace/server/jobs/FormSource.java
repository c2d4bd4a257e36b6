package io.millrace.server.jobs;

import io.millrace.server.http.HttpProblem;
import io.millrace.server.http.Request;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.apache.commons.fileupload2.core.RequestContext;

/**
 * A request as the library of forms wants to see it. Tells failures of the connection from those of
 * the form.
 */
final class FormSource implements RequestContext {
  private final Request request;
  private final NotingStream body;

  FormSource(Request request) {
    this.request = request;
    this.body = new NotingStream(request.bodyStream());
  }

  /**
   * What a failure to read means to the client.
   *
   * @return a problem to be thrown
   * @throws IOException where it is the connection that failed
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
