package io.millrace.cli.graph.view;

import io.millrace.client.JsonCalls;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A page of something long.
 *
 * @param start what the server calls the page; empty for the first
 * @param view what all its pages share, so that they fit together; empty for the first
 */
record Where(String start, String view) {
  static final Where BEGIN = new Where("", "");

  /** The page that an answer names as its next; null where it is the last. */
  static @Nullable Where after(JsonNode answer) {
    JsonNode pagination = answer.path("pagination");
    String next = pagination.path("next").asString("");
    return next.isEmpty() ? null : new Where(next, pagination.path("pid").asString(""));
  }

  /** As parameters. */
  String query() {
    return start.isEmpty() ? "" : "start=" + JsonCalls.part(start) + "&pid=" + JsonCalls.part(view);
  }
}
