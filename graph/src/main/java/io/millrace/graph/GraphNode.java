package io.millrace.graph;

/**
 * A node as it is at one moment.
 *
 * @param id its id
 * @param definition what it is
 * @param phase what has happened to it
 * @param state what that and the nodes above it make of it
 * @param version the version of the graph in which it or its state changed last
 */
public record GraphNode(
    NodeId id, Definition definition, Phase phase, NodeState state, long version) {}
