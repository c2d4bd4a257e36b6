/**
 * The types of graph nodes that need nothing but this machine: commands, conditions, waiting,
 * groups. {@link io.millrace.graph.type.StandardTypes} gives them all.
 *
 * <p>{@link io.millrace.graph.type.Inputs} and {@link io.millrace.graph.type.RunPolicy} help others
 * to write types of their own.
 */
@NullMarked
package io.millrace.graph.type;

import org.jspecify.annotations.NullMarked;
