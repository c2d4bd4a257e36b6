/**
 * Reads and writes graph files in YAML or JSON, and reports every mistake with its line.
 * docs/graph-files.md describes the format.
 */
@NullMarked
package io.millrace.cli.graph.file;

import org.jspecify.annotations.NullMarked;
