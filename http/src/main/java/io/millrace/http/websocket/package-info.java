/**
 * WebSocket (RFC 6455) on a connection after its handshake over HTTP.
 *
 * <pre>{@code
 * connection's thread:  FrameReader --> WebSocketConnection --> WebSocket.Listener
 *                                                                                              | pongs, closes
 * thread while sending: Transport <-- SendQueue <-- WebSocket, from any thread
 * }</pre>
 *
 * <p>Binary messages are streamed and never kept in memory completely; text messages have a limit.
 * A slow listener slows the peer down through TCP's flow control. An idle connection costs a buffer
 * of 1 KiB and a parked virtual thread.
 */
@NullMarked
package io.millrace.http.websocket;

import org.jspecify.annotations.NullMarked;
