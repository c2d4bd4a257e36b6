package io.millrace.server.http;

import java.io.ByteArrayOutputStream;
import tools.jackson.core.JsonEncoding;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** The one form of errors: {@code {"errors": ["…"]}}. */
public final class Problems {
  private static final JsonFactory JSON = new JsonFactory();

  private Problems() {}

  /** The answer that says what is wrong. */
  public static Reply reply(HttpProblem problem) {
    return new Reply.Whole(
        problem.status(), Reply.JSON, problem.headers(), body(problem.message()));
  }

  static byte[] body(String message) {
    ByteArrayOutputStream target = new ByteArrayOutputStream(128);
    try (JsonGenerator json =
        JSON.createGenerator(ObjectWriteContext.empty(), target, JsonEncoding.UTF8)) {
      json.writeStartObject();
      json.writeArrayPropertyStart("errors");
      json.writeString(message);
      json.writeEndArray();
      json.writeEndObject();
    }
    return target.toByteArray();
  }
}
