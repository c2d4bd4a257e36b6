package io.millrace.store.journal;

import org.jspecify.annotations.Nullable;

/**
 * The end of a chain of frames, which the next frame must continue.
 *
 * @param sequence the last frame, 0 for none
 * @param checksum its checksum, 0 for none
 * @param epoch its epoch
 * @param position the number of commits up to and including it
 * @param timeMillis its store time
 */
public record Chain(long sequence, int checksum, long epoch, long position, long timeMillis) {
  /** The chain without a frame. */
  public static final Chain START = new Chain(0, 0, 0, 0, 0);

  /** The chain with one more frame. */
  public Chain after(Frame frame, int frameChecksum) {
    return new Chain(
        frame.sequence(), frameChecksum, frame.epoch(), frame.position(), frame.timeMillis());
  }

  /**
   * Why a frame that was read does not continue this chain, for people; null if it does.
   *
   * @param predecessor the checksum of the frame before it, according to its header
   */
  public @Nullable String breakOf(Frame frame, int predecessor) {
    if (frame.sequence() != sequence + 1) {
      return "frame " + frame.sequence() + " follows frame " + sequence;
    }
    if (predecessor != checksum) {
      return "frame " + frame.sequence() + " does not continue the frame before it";
    }
    if (frame.epoch() < epoch || frame.position() < position) {
      return "frame " + frame.sequence() + " goes back in epoch or position";
    }
    return null;
  }

  /**
   * Checks that a frame may be appended.
   *
   * @throws IllegalArgumentException if it does not follow the last frame
   */
  public void require(Frame frame) {
    if (frame.sequence() != sequence + 1
        || frame.epoch() < epoch
        || frame.position() < position
        || frame.durableSequence() > sequence) {
      throw new IllegalArgumentException(
          frame + " does not follow frame " + sequence + " of epoch " + epoch);
    }
  }
}
