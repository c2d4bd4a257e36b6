package io.millrace.graph;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A node that somebody wants to add.
 *
 * @param local by which other nodes of the request may name it; null for none
 * @param name what people call it, up to 128 characters; null for none; need not be unique
 * @param type the name of its type, as in {@code command}
 * @param place what it is below and comes after
 * @param always whether it runs however what is above it ended
 * @param data its data by key
 */
public record NodeForm(
    @Nullable String local,
    @Nullable String name,
    String type,
    NewNode.Place place,
    boolean always,
    Map<String, JsonNode> data) {
  /** Copies the data. */
  public NodeForm {
    data = Map.copyOf(data);
  }
}
