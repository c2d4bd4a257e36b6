package io.millrace.server.shards;

import io.millrace.http.json.Json;
import io.millrace.http.message.HttpProblem;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Pages of the nodes of several shards, one shard after the other. The list of a shard is as it was
 * when its first page was read.
 */
final class NodePages {
  /** The pid of all such lists; that of the shard is in the field {@code next}. */
  private static final String VIEW = "shards";

  private NodePages() {}

  /**
   * Where a page starts.
   *
   * @param start where it starts in the list of the shard; empty for its first page
   * @param view the pid of that list; empty for the first page
   */
  record Place(int shard, String start, String view) {
    private static final Pattern FORM =
        Pattern.compile("(\\d{1,3})\\.(\\d{0,9})\\.([\\w-]{0,100})");

    /**
     * Reads what a page says of the one after it.
     *
     * @throws HttpProblem 400 if it is none
     */
    static Place of(String given, int shards) {
      Matcher parts = FORM.matcher(given);
      if (!parts.matches() || Integer.parseInt(parts.group(1)) >= shards) {
        throw HttpProblem.malformed("the parameter start must be the next of a page, not " + given);
      }
      return new Place(Integer.parseInt(parts.group(1)), parts.group(2), parts.group(3));
    }

    private String text() {
      return shard + "." + start + "." + view;
    }
  }

  /**
   * The first page.
   *
   * @param answers those of all shards
   * @param asked whether the client wants the fields for pages even if there is only one
   */
  static JsonNode first(List<JsonNode> answers, boolean asked) {
    ArrayNode nodes = Json.array();
    Place next = null;
    for (int shard = 0; shard < answers.size() && next == null; shard++) {
      JsonNode answer = answers.get(shard);
      nodes.addAll((answer.isArray() ? answer : answer.required("nodes")).asArray());
      next = after(shard, answer);
    }
    return next == null && !asked ? nodes : page(nodes, next);
  }

  /** Another page, which one shard has answered. */
  static JsonNode next(Place place, JsonNode answer, int shards) {
    Place next = after(place.shard(), answer);
    if (next == null && place.shard() + 1 < shards) {
      next = new Place(place.shard() + 1, "", "");
    }
    return page(answer.required("nodes").asArray(), next);
  }

  /** Where a shard goes on; null if this was its last page. */
  private static @Nullable Place after(int shard, JsonNode answer) {
    JsonNode pagination = answer.path("pagination");
    return pagination.hasNonNull("next")
        ? new Place(
            shard, pagination.required("next").asString(), pagination.required("pid").asString())
        : null;
  }

  private static ObjectNode page(ArrayNode nodes, @Nullable Place next) {
    ObjectNode page = Json.object();
    page.set("nodes", nodes);
    page.putObject("pagination").put("next", next == null ? null : next.text()).put("pid", VIEW);
    return page;
  }
}
