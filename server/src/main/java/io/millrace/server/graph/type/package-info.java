/** Types of graph nodes that hand their work on: to queues, and to the job server. */
@NullMarked
package io.millrace.server.graph.type;

import org.jspecify.annotations.NullMarked;
