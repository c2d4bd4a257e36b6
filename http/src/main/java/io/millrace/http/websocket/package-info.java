/**
 * WebSocket (RFC 6455) on a connection that has been switched to it, after HTTP has let it in.
 *
 * <pre>
 *   connection's thread:  FrameReader --> WebSocketConnection --> WebSocket.Listener
 *                                                | pongs, closes
 *   a thread while there  SocketChannel <-- SendQueue <-- WebSocket, from any thread
 *   is something to send
 * </pre>
 *
 * <p>A message is never held as a whole: a binary one is a stream that reads its frames as they
 * come, a text has a limit. A slow reader slows the peer down, by TCP. A quiet connection costs a
 * kibibyte of buffer and its parked thread.
 */
@NullMarked
package io.millrace.http.websocket;

import org.jspecify.annotations.NullMarked;
