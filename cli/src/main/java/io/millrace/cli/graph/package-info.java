/**
 * The commands on a server's graph: plain clients of its HTTP interface at {@code /v1}, which know
 * nothing of how graphs are kept and run.
 */
@NullMarked
package io.millrace.cli.graph;

import org.jspecify.annotations.NullMarked;
