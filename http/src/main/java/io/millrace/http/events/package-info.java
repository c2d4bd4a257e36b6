/**
 * Streams of events that a client reads, as server-sent events or as messages of a WebSocket. Each
 * API gives an {@link io.millrace.http.events.EventStream.Source}.
 */
@NullMarked
package io.millrace.http.events;

import org.jspecify.annotations.NullMarked;
