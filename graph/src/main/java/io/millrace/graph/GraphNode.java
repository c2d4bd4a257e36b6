package io.millrace.graph;

import org.jspecify.annotations.Nullable;

/**
 * A node as it is at one moment.
 *
 * @param id its id
 * @param name what people call it; null for none
 * @param definition what it is
 * @param phase what has happened to it
 * @param state what that and the nodes above it make of it
 * @param reason why it stands so, for people; empty if nothing needs to be said
 * @param createdMillis when it was added, in milliseconds since 1970
 * @param version the version of the graph in which it, its data or its state changed last
 */
public record GraphNode(
    NodeId id,
    @Nullable String name,
    Definition definition,
    Phase phase,
    NodeState state,
    String reason,
    long createdMillis,
    long version) {}
