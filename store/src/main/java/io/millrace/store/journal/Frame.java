package io.millrace.store.journal;

import java.nio.ByteBuffer;

/**
 * One group of commits as the journal keeps it.
 *
 * @param sequence its number, one more than that of the frame before it; the first is 1
 * @param epoch the epoch in which it was written, never less than that of the frame before it
 * @param writer the random number that its writer drew when it opened the journal
 * @param timeMillis the store time when it was closed
 * @param durableSequence the last frame that its writer knew to be durable when it handed this one
 *     over; 0 for none
 * @param position the number of commits up to and with this frame
 * @param payload the records; between position and limit of the buffer
 */
public record Frame(
    long sequence,
    long epoch,
    long writer,
    long timeMillis,
    long durableSequence,
    long position,
    ByteBuffer payload) {}
