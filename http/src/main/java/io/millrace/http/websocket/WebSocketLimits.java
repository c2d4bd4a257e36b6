package io.millrace.http.websocket;

/**
 * What a peer may send; more is answered by closing with 1009.
 *
 * @param frameBytes the longest frame
 * @param textBytes the longest text message
 * @param messageBytes the longest binary message, of however many frames
 */
public record WebSocketLimits(long frameBytes, int textBytes, long messageBytes) {}
