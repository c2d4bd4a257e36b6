package io.millrace.server.graph;

import io.millrace.graph.GraphNode;
import io.millrace.http.Request;
import io.millrace.http.message.HttpProblem;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Versions of nodes and of the graph in headers: {@code ETag} and {@code If-Match}. */
final class Precondition {
  private static final int MOST_DIGITS = 18;

  private Precondition() {}

  /** The header that tells a node's version. */
  static Map<String, String> tag(GraphNode node) {
    return tag(node.version());
  }

  /** The header that tells a version. */
  static Map<String, String> tag(long version) {
    return Map.of("ETag", "\"" + version + "\"");
  }

  /**
   * The version that the client expects; null where it expects none.
   *
   * @throws HttpProblem 400 where the header is something else
   */
  static @Nullable Long expected(Request request) {
    String given = request.header("If-Match").map(String::strip).orElse("*");
    if (given.equals("*")) {
      return null;
    }
    boolean quoted = given.length() > 2 && given.startsWith("\"") && given.endsWith("\"");
    String digits = quoted ? given.substring(1, given.length() - 1) : given;
    if (digits.isEmpty()
        || digits.length() > MOST_DIGITS
        || !digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
      throw HttpProblem.malformed(
          "the header If-Match must be the version of the node or graph, as in \"17\", not "
              + given);
    }
    return Long.valueOf(digits);
  }
}
