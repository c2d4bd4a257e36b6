package io.millrace.server.graph;

import io.millrace.graph.Page;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Query;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * What a request says of pages.
 *
 * @param start the parameter {@code start}; null where it is absent
 * @param view the parameter {@code pid} or {@code pagid}; null where both are absent or empty
 */
record Pages(@Nullable String start, @Nullable String view) {
  /**
   * Reads them.
   *
   * @throws HttpProblem 400 for a pid without a start
   */
  static Pages of(Query query) {
    String start = query.text("start").orElse(null);
    String view = query.text("pid").or(() -> query.text("pagid")).orElse("");
    if (start == null && !view.isEmpty()) {
      throw HttpProblem.malformed(
          "the parameter pid comes with start, the next of the page before");
    }
    return new Pages(start, view.isEmpty() ? null : view);
  }

  /** Whether a page was asked for, so that the answer tells of pages even where there is one. */
  boolean asked() {
    return start != null;
  }

  /**
   * The page of a list; null for the first one of a new list, which an empty start stands for too.
   *
   * @throws HttpProblem 400 for a start without a pid
   */
  Page.@Nullable Wanted wanted() {
    if (start == null || start.isEmpty()) {
      return null;
    }
    if (view == null) {
      throw withoutView();
    }
    return new Page.Wanted(view, start);
  }

  /**
   * The number of a page of data: 0 where none is given.
   *
   * @throws HttpProblem 400 for what is no number, and for a later page without a pid
   */
  int slot() {
    int slot = start == null || start.isEmpty() ? 0 : number(start);
    if (slot > 0 && view == null) {
      throw withoutView();
    }
    return slot;
  }

  private static int number(String text) {
    try {
      int slot = Integer.parseInt(text);
      if (slot >= 0) {
        return slot;
      }
    } catch (NumberFormatException _) {
      // Said below.
    }
    throw HttpProblem.malformed("the parameter start must be the next of a page, not " + text);
  }

  private static HttpProblem withoutView() {
    return HttpProblem.malformed("the parameter start comes with pid, that of the page before");
  }

  /**
   * Adds where to go on.
   *
   * @param next null for the last page
   */
  static ObjectNode add(ObjectNode json, @Nullable String next, String view) {
    json.putObject("pagination").put("next", next).put("pid", view);
    return json;
  }
}
