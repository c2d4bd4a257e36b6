package io.millrace.server.http;

import io.helidon.http.DirectHandler.EventType;
import io.helidon.http.DirectHandler.TransportRequest;
import io.helidon.http.DirectHandler.TransportResponse;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.ServerResponseHeaders;
import io.helidon.http.Status;
import io.millrace.wire.Answers;
import org.jspecify.annotations.Nullable;

/** Answers what is no HTTP request that could be routed, and says what is wrong with it. */
final class Unroutable {
  /** How the library begins where it hides its own words, and refers to a log that has none. */
  private static final String HIDDEN = "Bad request, see server log";

  private Unroutable() {}

  static TransportResponse answer(
      TransportRequest request,
      EventType type,
      Status status,
      ServerResponseHeaders headers,
      @Nullable String message) {
    // Our dispatcher answers every failure of a routed request, so an internal error of the library
    // can only mean that it could not read what the client sent.
    boolean unread = status.code() >= 500 && type != EventType.HTTP_VERSION_NOT_SUPPORTED;
    headers.set(HeaderValues.create(HeaderNames.CONTENT_TYPE, Reply.JSON));
    return TransportResponse.builder()
        .status(unread ? Status.BAD_REQUEST_400 : status)
        .headers(headers)
        .keepAlive(false)
        .entity(Answers.writeError(words(request, unread ? null : message)))
        .build();
  }

  private static String words(TransportRequest request, @Nullable String message) {
    if (message == null) {
      return "the request line or a header is malformed";
    }
    if (message.startsWith(HIDDEN)) {
      return requestLine(request);
    }
    // What follows the first line is a dump of the bytes.
    return message.lines().findFirst().orElse("the request line or a header is malformed").strip();
  }

  /** What is wrong with a request line, of which the library gives as much as it could read. */
  private static String requestLine(TransportRequest request) {
    String path = request.path();
    if (request.method().isEmpty() || path.isBlank()) {
      return "the request line is not METHOD PATH HTTP/1.1";
    }
    if (!request.protocolVersion().equals("HTTP/1.1")) {
      return "the request line does not end in HTTP/1.1, the protocol spoken here";
    }
    int percent = brokenEscape(path);
    return percent < 0
        ? "the path or query has a character that must be percent-encoded"
        : "the path or query has % without two hexadecimal digits: "
            + path.substring(percent, Math.min(percent + 3, path.length()));
  }

  /** Where a percent sign has no two digits; -1 where there is none such. */
  private static int brokenEscape(String path) {
    for (int i = path.indexOf('%'); i >= 0; i = path.indexOf('%', i + 1)) {
      if (i + 2 >= path.length()
          || Character.digit(path.charAt(i + 1), 16) < 0
          || Character.digit(path.charAt(i + 2), 16) < 0) {
        return i;
      }
    }
    return -1;
  }
}
