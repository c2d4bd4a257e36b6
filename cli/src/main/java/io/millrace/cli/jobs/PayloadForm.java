package io.millrace.cli.jobs;

import io.millrace.client.Upload;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** A multipart form with a payload behind its other fields, which is read while it is sent. */
final class PayloadForm {
  private static final String LINE = "\r\n";

  private PayloadForm() {}

  /**
   * The form as a body.
   *
   * @param fields by name; names are ASCII
   * @param payload the payload, not closed
   * @param size how long the payload is; -1 where that is not known
   */
  static Upload of(Map<String, String> fields, InputStream payload, long size) {
    String boundary = UUID.randomUUID().toString();
    StringBuilder before = new StringBuilder();
    fields.forEach((name, value) ->
        before.append(head(boundary, name)).append(LINE + LINE).append(value).append(LINE));
    before
        .append(head(boundary, "Payload"))
        .append("; filename=\"payload\"" + LINE)
        .append("Content-Type: application/octet-stream" + LINE + LINE);
    byte[] head = before.toString().getBytes(StandardCharsets.UTF_8);
    byte[] tail = (LINE + "--" + boundary + "--" + LINE).getBytes(StandardCharsets.US_ASCII);
    InputStream body =
        new SequenceInputStream(
            Collections.enumeration(
                List.of(new ByteArrayInputStream(head), payload, new ByteArrayInputStream(tail))));
    return new Upload(
        "multipart/form-data; boundary=" + boundary,
        size < 0 ? -1 : head.length + size + tail.length,
        body);
  }

  private static String head(String boundary, String name) {
    return "--" + boundary + LINE + "Content-Disposition: form-data; name=\"" + name + "\"";
  }
}
