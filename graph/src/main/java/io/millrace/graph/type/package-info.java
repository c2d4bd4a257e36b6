/**
 * The types of graph nodes that need nothing but this machine: commands, conditions, waiting and
 * groups. {@link io.millrace.graph.type.StandardTypes} has them all.
 *
 * <p>{@link io.millrace.graph.type.Inputs} and {@link io.millrace.graph.type.RunPolicy} help to
 * write other types.
 */
@NullMarked
package io.millrace.graph.type;

import org.jspecify.annotations.NullMarked;
