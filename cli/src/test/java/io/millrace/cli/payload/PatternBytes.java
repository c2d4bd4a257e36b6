package io.millrace.cli.payload;

import java.io.InputStream;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;

/** Bytes of any length, the same for the same seed: a block that repeats. */
final class PatternBytes extends InputStream {
  /** A prime, so that no buffer's size divides it. */
  private static final int BLOCK_BYTES = 65_521;

  private final byte[] block = new byte[BLOCK_BYTES];
  private final long length;
  private long position;

  PatternBytes(long seed, long length) {
    new SplittableRandom(seed).nextBytes(block);
    this.length = length;
  }

  /** The checksum of all of them. */
  static long checksum(long seed, long length) {
    CRC32C sum = new CRC32C();
    byte[] part = new byte[1 << 16];
    PatternBytes pattern = new PatternBytes(seed, length);
    for (int read = pattern.read(part); read >= 0; read = pattern.read(part)) {
      sum.update(part, 0, read);
    }
    return sum.getValue();
  }

  @Override
  public int read() {
    byte[] one = new byte[1];
    return read(one) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] target) {
    return read(target, 0, target.length);
  }

  @Override
  public int read(byte[] target, int offset, int count) {
    if (position == length) {
      return -1;
    }
    int at = (int) (position % BLOCK_BYTES);
    int most = (int) Math.min(Math.min(count, BLOCK_BYTES - at), length - position);
    System.arraycopy(block, at, target, offset, most);
    position += most;
    return most;
  }
}
