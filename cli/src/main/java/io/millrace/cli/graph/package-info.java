/**
 * {@code millrace graph}: clients of the HTTP API at {@code /v1}, independent of the graph module.
 */
@NullMarked
package io.millrace.cli.graph;

import org.jspecify.annotations.NullMarked;
