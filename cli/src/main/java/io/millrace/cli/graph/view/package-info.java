/**
 * What a server says of its graph, and how people see it: nodes, the tree that they form, and its
 * changes as they come.
 */
@NullMarked
package io.millrace.cli.graph.view;

import org.jspecify.annotations.NullMarked;
