/** Reads nodes and changes of a graph from the server, and formats them as text. */
@NullMarked
package io.millrace.cli.graph.view;

import org.jspecify.annotations.NullMarked;
