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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers a head that the library refuses, and says what is wrong with it. */
final class Unroutable {
  /** How the library begins where it hides its own words, and refers to a log that has none. */
  private static final String HIDDEN = "Bad request, see server log";

  private static final Logger LOG = LoggerFactory.getLogger("io.millrace.server.requests");

  private Unroutable() {}

  static TransportResponse answer(
      TransportRequest request,
      EventType type,
      Status status,
      ServerResponseHeaders headers,
      @Nullable String message) {
    // The head was checked before the library saw it, and the dispatcher answers every failure of a
    // routed request: so this is the client's mistake only if the library says so.
    boolean failed = status.code() >= 500;
    if (failed) {
      LOG.error("no answer to {}: the HTTP library failed: {}", requestLine(request), message);
    }
    headers.set(HeaderValues.create(HeaderNames.CONTENT_TYPE, Reply.JSON));
    return TransportResponse.builder()
        .status(status)
        .headers(headers)
        .keepAlive(false)
        .entity(
            Answers.writeError(
                failed ? "the server made a mistake, its log says which" : words(request, message)))
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
