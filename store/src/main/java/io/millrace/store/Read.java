package io.millrace.store;

/**
 * The answer to a read: what was true at one position.
 *
 * @param position when it was true
 * @param timeMillis the store time of the read
 * @param value what was read
 * @param <T> the answer
 */
public record Read<T>(Position position, long timeMillis, T value) {}
