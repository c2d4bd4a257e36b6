package io.millrace.server.jobs;

import io.millrace.http.Request;
import io.millrace.http.message.ByteRange;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Payloads and results as responses: streamed, with their length, whole or one range of them. */
public final class Content {
  private static final int BUFFER_BYTES = 64 << 10;

  private Content() {}

  /** Opens the bytes. */
  public interface Source {
    /** Null if they are gone. */
    @Nullable InputStream open();
  }

  /**
   * All of them, or the range that the request names.
   *
   * @throws HttpProblem 404 if they are gone, 416 for a range behind their end
   */
  public static Response response(Request request, long size, Source source) throws IOException {
    Map<String, String> headers = new LinkedHashMap<>(Map.of("Accept-Ranges", "bytes"));
    ByteRange range = request.header("Range").map(text -> ByteRange.parse(text, size)).orElse(null);
    if (range != null && range.isEmpty()) {
      throw new HttpProblem(416, "the range begins at or after the end, which is at " + size)
          .withHeader("Content-Range", "bytes */" + size);
    }
    long first = range == null ? 0 : range.first();
    long length = range == null ? size : range.length();
    if (range != null) {
      headers.put("Content-Range", "bytes " + first + "-" + range.last() + "/" + size);
    }
    return response(range == null ? 200 : 206, headers, first, length, open(request, source));
  }

  private static @Nullable InputStream open(Request request, Source source) {
    if (request.isHead()) {
      return null;
    }
    InputStream content = source.open();
    if (content == null) {
      throw HttpProblem.notFound("the job is gone, and its bytes with it");
    }
    return content;
  }

  private static Response response(
      int status,
      Map<String, String> headers,
      long first,
      long length,
      @Nullable InputStream content) {
    return new Response.Streamed(
        status,
        Response.BYTES,
        headers,
        length,
        target -> {
          if (content != null) {
            copy(content, first, length, target);
          }
        });
  }

  /** Writes that part of the content and closes it. */
  static void copy(InputStream content, long first, long length, OutputStream target)
      throws IOException {
    try (content) {
      content.skipNBytes(first);
      byte[] buffer = new byte[(int) Math.min(length, BUFFER_BYTES)];
      long left = length;
      while (left > 0) {
        int count = content.read(buffer, 0, (int) Math.min(left, buffer.length));
        if (count < 0) {
          throw new EOFException("the bytes of a job ended early");
        }
        target.write(buffer, 0, count);
        left -= count;
      }
    }
  }
}
