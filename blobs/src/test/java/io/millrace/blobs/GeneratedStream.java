package io.millrace.blobs;

import java.io.InputStream;
import java.util.SplittableRandom;

/** Bytes out of a seed, made as they are read; runs an action at its end. */
public class GeneratedStream extends InputStream {
  private final byte[] block = new byte[8192];
  private final Runnable atEnd;
  private long left;

  /** These bytes; {@code atEnd} is called before the end is told. */
  public GeneratedStream(long seed, long size, Runnable atEnd) {
    new SplittableRandom(seed).nextBytes(block);
    this.left = size;
    this.atEnd = atEnd;
  }

  @Override
  public int read() {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] target, int offset, int length) {
    if (left == 0) {
      atEnd.run();
      return -1;
    }
    int count = (int) Math.min(Math.min(length, block.length), left);
    System.arraycopy(block, 0, target, offset, count);
    left -= count;
    return count;
  }
}
