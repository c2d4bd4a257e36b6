/**
 * The graph scheduler, after Taskman: nodes that run when the nodes above them have ended. This
 * package is what its users see.
 *
 * <p>Only facts are stored of a node: its definition, and whether it waits, runs or has ended. Its
 * {@link io.millrace.graph.NodeState} follows from these facts and those of the nodes above. So the
 * commit that ends a node makes its children ready, and no state can contradict another.
 *
 * <ul>
 *   <li>{@code model}: the graph in memory, and the rules of what is allowed;
 *   <li>{@code store}: how a graph is kept in a store, read and changed;
 *   <li>{@code schedule}: starts nodes, and ends them;
 *   <li>{@code type}: the types of nodes.
 * </ul>
 */
@NullMarked
package io.millrace.graph;

import org.jspecify.annotations.NullMarked;
