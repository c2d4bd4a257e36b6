/** Graphs as pictures: descriptions for Graphviz, and drawings in SVG laid out by ELK. */
@NullMarked
package io.millrace.cli.graph.picture;

import org.jspecify.annotations.NullMarked;
