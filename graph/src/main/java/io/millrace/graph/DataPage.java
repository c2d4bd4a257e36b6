package io.millrace.graph;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A page of a node's data.
 *
 * @param data a part of a text, of up to 256 KiB, or a whole value of another kind
 * @param view what all pages of this value share, as {@code pid} in the API; stale once the value
 *     was changed otherwise than by growing
 * @param slot the number of this page, from 0
 * @param next the number of the next page; null for the last one
 * @param growing whether a running command may still add to it
 */
public record DataPage(
    JsonNode data, String view, int slot, @Nullable Integer next, boolean growing) {}
