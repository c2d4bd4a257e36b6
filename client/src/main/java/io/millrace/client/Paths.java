package io.millrace.client;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

/** Names as parts of a path or query. */
final class Paths {
  private Paths() {}

  /** A name, percent-encoded as UTF-8, slashes and dots included. */
  static String encode(String name) {
    return URLEncoder.encode(name, StandardCharsets.UTF_8)
        .replace("+", "%20")
        .replace("*", "%2A")
        .replace(".", "%2E");
  }
}
