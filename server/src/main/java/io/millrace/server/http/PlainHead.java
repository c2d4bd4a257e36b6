package io.millrace.server.http;

import io.helidon.http.Headers;
import io.helidon.http.HttpPrologue;

/**
 * The head of a plain request.
 *
 * @param prologue method, path and query
 * @param headers its headers; none of them asks for anything but an answer
 * @param headBytes how long the head is, with the empty line
 * @param bodyBytes how long the body is
 */
record PlainHead(HttpPrologue prologue, Headers headers, int headBytes, int bodyBytes) {
  /** The length of the whole request. */
  int length() {
    return headBytes + bodyBytes;
  }
}
