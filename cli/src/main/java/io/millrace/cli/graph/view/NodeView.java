package io.millrace.cli.graph.view;

import java.util.List;
import tools.jackson.databind.JsonNode;

/**
 * The metadata of a graph node. Times are in milliseconds since 1970; 0 for none.
 *
 * @param id its id
 * @param name its display name; empty for none
 * @param type the name of its type
 * @param place its place in the graph
 * @param state its state
 * @param reason why it is in this state; may be empty
 * @param attempt the number of attempts, including a running one
 * @param started when the last attempt started
 * @param ended when the last attempt ended
 * @param notBefore the earliest start
 * @param killing whether it is being killed
 */
public record NodeView(
    long id,
    String name,
    String type,
    Place place,
    State state,
    String reason,
    int attempt,
    long started,
    long ended,
    long notBefore,
    boolean killing) {
  /**
   * The position of a node in the graph.
   *
   * @param parents the ids of its parents; empty for root
   * @param after the ids of other nodes that must have ended first
   * @param branch the branch of a condition that it is on; empty for none
   * @param always whether it runs even if a parent has failed
   */
  public record Place(List<Long> parents, List<Long> after, String branch, boolean always) {
    public Place {
      parents = List.copyOf(parents);
      after = List.copyOf(after);
    }
  }

  /** Reads the metadata of a node as the API gives it. */
  public static NodeView of(JsonNode metadata) {
    Place place =
        new Place(
            ids(metadata.path("parents")),
            ids(metadata.path("after")),
            metadata.path("branch").asString(""),
            metadata.path("always").asBoolean(false));
    return new NodeView(
        metadata.path("id").asLong(0),
        metadata.path("name").asString(""),
        metadata.path("type").asString(""),
        place,
        State.of(metadata.path("state").asString("")),
        metadata.path("reason").asString(""),
        metadata.path("attempt").asInt(0),
        metadata.path("started").asLong(0),
        metadata.path("ended").asLong(0),
        metadata.path("notBefore").asLong(0),
        metadata.path("killing").asBoolean(false));
  }

  private static List<Long> ids(JsonNode list) {
    return list.valueStream().map(id -> id.asLong(0)).filter(id -> id > 0).toList();
  }

  /** The name, or the type in brackets if it has no name. */
  public String title() {
    return name.isEmpty() ? "[" + type + "]" : name;
  }
}
