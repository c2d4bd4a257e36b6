/** Queues of a server over HTTP, see {@link io.millrace.client.queues.QueueClient}. */
@NullMarked
package io.millrace.client.queues;

import org.jspecify.annotations.NullMarked;
