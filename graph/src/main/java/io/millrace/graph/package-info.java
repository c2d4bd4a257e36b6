/**
 * The graph scheduler, after Taskman: nodes that run when what is above them has ended. This
 * package is what its users see.
 *
 * <p>Of a node only facts are kept: how it is defined, and whether it waits, runs or has ended. Its
 * {@link io.millrace.graph.NodeState} follows from these facts and those of the nodes above. So the
 * commit that ends a node makes its children ready, and no state can contradict another.
 *
 * <ul>
 *   <li>{@code model}: the graph in memory, and the rules of what may be asked of it;
 *   <li>{@code store}: how a graph is kept in a store, read and changed;
 *   <li>{@code schedule}: what starts nodes, and ends them;
 *   <li>{@code type}: the types of nodes.
 * </ul>
 */
@NullMarked
package io.millrace.graph;

import org.jspecify.annotations.NullMarked;
