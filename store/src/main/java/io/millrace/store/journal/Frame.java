package io.millrace.store.journal;

import java.nio.ByteBuffer;

/**
 * A group of commits in the journal.
 *
 * @param sequence its number, one more than that of the frame before it; the first is 1
 * @param epoch the epoch in which it was written, never smaller than that of the frame before it
 * @param writer the random number that its writer chose when it opened the journal
 * @param timeMillis the store time when it was handed to the journal
 * @param durableSequence the last frame that was known to be durable at that time; 0 for none
 * @param position the number of commits up to and including this frame
 * @param payload the records, between position and limit of the buffer
 */
public record Frame(
    long sequence,
    long epoch,
    long writer,
    long timeMillis,
    long durableSequence,
    long position,
    ByteBuffer payload) {}
