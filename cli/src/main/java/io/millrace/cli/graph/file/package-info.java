/**
 * Graphs in files, in YAML or JSON: read with every mistake named by its line, and written. The
 * form is described in docs/graph-files.md.
 */
@NullMarked
package io.millrace.cli.graph.file;

import org.jspecify.annotations.NullMarked;
