package io.millrace.client.jobs;

import io.millrace.client.JsonCalls.Upload;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * The multipart form of a submission; its last field is the payload, read while the form is sent.
 */
public final class JobForm {
  private static final String LINE = "\r\n";

  private JobForm() {}

  /**
   * The form as a body.
   *
   * @param fields by name; names are ASCII
   * @param payload the payload, not closed
   * @param size the length of the payload; -1 if unknown
   */
  public static Upload of(Map<String, String> fields, InputStream payload, long size) {
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
