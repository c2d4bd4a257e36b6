package io.millrace.server.websocket;

/**
 * The head of a frame that a client sent.
 *
 * @param opcode its kind
 * @param last whether it is the last of its message
 * @param length of its payload in bytes
 * @param mask what its payload is masked with, the first byte on top
 */
record FrameHead(Opcode opcode, boolean last, long length, int mask) {}
