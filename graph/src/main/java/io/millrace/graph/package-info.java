/**
 * The graph scheduler, after Taskman: nodes that run when what is above them has ended.
 *
 * <p>Of a node only facts are kept: how it is defined, and whether it waits, runs or has ended.
 * What that means for those below it, {@link io.millrace.graph.NodeState}, follows from the facts
 * of the nodes above. So the commit that ends a node makes its children ready, and no state can
 * contradict another.
 *
 * <p>{@link io.millrace.graph.Graph} is a state machine without clock, thread or store; {@link
 * io.millrace.graph.Rules} says what may be asked of it. {@link io.millrace.graph.StoredGraph}
 * keeps one in a store:
 *
 * <pre>
 *   registry()  work()           reads
 *        |        |                |
 *        v        v                |
 *      Operation, many together    |
 *        |                         |
 *      GraphCommits: run them on the |
 *        |      WriteModel, in memory   |
 *        |                         v
 *      GraphSession: one commit  --->  ReadModel: nodes, what is ready,
 *        of documents              events, all of it durable
 * </pre>
 *
 * <p>A write model whose commit fails is thrown away, and the graph is loaded again.
 */
@NullMarked
package io.millrace.graph;

import org.jspecify.annotations.NullMarked;
