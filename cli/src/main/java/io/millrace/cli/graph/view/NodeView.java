package io.millrace.cli.graph.view;

import java.util.List;
import tools.jackson.databind.JsonNode;

/**
 * A graph node as the server describes it. Times in milliseconds since 1970, 0 for none.
 *
 * @param id its id
 * @param name what people call it; empty for none
 * @param type the name of its type
 * @param place what it is below and comes after
 * @param state where it stands
 * @param reason why it stands so; may be empty
 * @param attempt how often it was tried, the attempt under way included
 * @param started when the last attempt began
 * @param ended when it ended
 * @param notBefore when it may start at the earliest
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
   * @param parents the nodes that it is below; empty below root
   * @param after what else it comes after
   * @param branch the branch of a condition that it is on; empty for none
   * @param always whether it runs however what is above it ended
   */
  public record Place(List<Long> parents, List<Long> after, String branch, boolean always) {
    public Place {
      parents = List.copyOf(parents);
      after = List.copyOf(after);
    }
  }

  /** The node of which this is the metadata. */
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

  /** Its name; of one that has none, its type in brackets. */
  public String title() {
    return name.isEmpty() ? "[" + type + "]" : name;
  }
}
