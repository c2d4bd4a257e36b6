package io.millrace.graph;

import tools.jackson.databind.JsonNode;

/** How data of a node is to change. */
public sealed interface DataWrite {
  /** The new value; of a page, a text. */
  JsonNode value();

  /** In place of whatever is there. */
  record Whole(JsonNode value) implements DataWrite {}

  /** Only where nothing is there. */
  record IfUnset(JsonNode value) implements DataWrite {}

  /**
   * In place of one page of a text; the number after the last one adds a page.
   *
   * @param view that of the pages that were read or written before
   * @param slot the number of the page, from 0
   */
  record Slot(JsonNode value, String view, int slot) implements DataWrite {}
}
