package io.millrace.store.journal.files;

import io.millrace.store.journal.Frame;

/**
 * The end of a chain of frames, which the next frame must continue.
 *
 * @param sequence the last frame, 0 for none
 * @param checksum its checksum, 0 for none
 * @param epoch its epoch
 * @param position the number of commits up to and including it
 * @param timeMillis its store time
 */
record Chain(long sequence, int checksum, long epoch, long position, long timeMillis) {
  static final Chain START = new Chain(0, 0, 0, 0, 0);

  Chain after(Frame frame, int frameChecksum) {
    return new Chain(
        frame.sequence(), frameChecksum, frame.epoch(), frame.position(), frame.timeMillis());
  }
}
