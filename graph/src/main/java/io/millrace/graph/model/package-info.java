/**
 * The graph in memory: a state machine without clock, thread or store, and the rules of what is
 * allowed.
 *
 * <p>{@link io.millrace.graph.model.Graph} applies facts ({@link io.millrace.graph.model.Change})
 * and derives the state of every node from them. {@link io.millrace.graph.model.Rules} checks a
 * request and turns it into facts.
 */
@NullMarked
package io.millrace.graph.model;

import org.jspecify.annotations.NullMarked;
