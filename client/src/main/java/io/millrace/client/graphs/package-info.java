/** The graph of a server over HTTP, see {@link io.millrace.client.graphs.GraphClient}. */
@NullMarked
package io.millrace.client.graphs;

import org.jspecify.annotations.NullMarked;
