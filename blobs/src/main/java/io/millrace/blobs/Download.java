package io.millrace.blobs;

import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpResponse;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The answers to a GET, read as the stream of a blob. */
final class Download {
  private static final Pattern CONTENT_RANGE =
      Pattern.compile("bytes (?:(\\d{1,18})-\\d{1,18}|\\*)/(\\d{1,18})");

  private Download() {}

  /** The whole blob, which a server that knows no ranges may send for a part, too. */
  static BlobStream whole(HttpResponse<InputStream> answer, long offset, String what) {
    long size = contentLength(answer, what);
    try {
      answer.body().skipNBytes(Math.min(offset, size));
    } catch (IOException e) {
      HttpExchange.discard(answer);
      throw new BlobException(what + ": " + e, e);
    }
    return new BlobStream(answer.body(), size);
  }

  static BlobStream part(HttpResponse<InputStream> answer, long offset, String what) {
    Matcher range = contentRange(answer, what);
    String start = range.group(1);
    if (start == null || Long.parseLong(start) != offset) {
      throw strange(answer, what, "a range that was not asked for, " + range.group());
    }
    return new BlobStream(answer.body(), Long.parseLong(range.group(2)));
  }

  static BlobStream pastTheEnd(HttpResponse<InputStream> answer, String what) {
    Matcher range = contentRange(answer, what);
    HttpExchange.discard(answer);
    return new BlobStream(InputStream.nullInputStream(), Long.parseLong(range.group(2)));
  }

  static long contentLength(HttpResponse<InputStream> answer, String what) {
    OptionalLong length = answer.headers().firstValueAsLong("Content-Length");
    if (length.isEmpty()) {
      throw strange(answer, what, "no Content-Length");
    }
    return length.getAsLong();
  }

  private static Matcher contentRange(HttpResponse<InputStream> answer, String what) {
    String header = answer.headers().firstValue("Content-Range").orElse("");
    Matcher range = CONTENT_RANGE.matcher(header);
    if (!range.matches()) {
      throw strange(answer, what, "the Content-Range \"" + header + "\"");
    }
    return range;
  }

  private static BlobException strange(
      HttpResponse<InputStream> answer, String what, String strangeness) {
    HttpExchange.discard(answer);
    return new BlobException(
        what + ": " + answer.uri() + " answered " + answer.statusCode() + " with " + strangeness);
  }
}
