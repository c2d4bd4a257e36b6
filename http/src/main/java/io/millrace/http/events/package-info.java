/**
 * Streams of events, as server-sent events or as messages of a WebSocket. Each API supplies an
 * {@link io.millrace.http.events.EventStream.Source}.
 */
@NullMarked
package io.millrace.http.events;

import org.jspecify.annotations.NullMarked;
