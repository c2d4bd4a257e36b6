package io.millrace.graph;

import org.jspecify.annotations.Nullable;

/**
 * A node as it was at one moment.
 *
 * @param id its id
 * @param name a name for people; null for none
 * @param definition its place and type
 * @param phase what has happened to it
 * @param state the state that follows from that and from the nodes above it
 * @param reason why it is in this state, for people; empty if nothing needs to be said
 * @param createdMillis when it was added, in milliseconds since 1970
 * @param version the version of the graph in which it, its state or its data changed last
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
