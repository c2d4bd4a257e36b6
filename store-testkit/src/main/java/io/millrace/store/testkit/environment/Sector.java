package io.millrace.store.testkit.environment;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The smallest piece that a disk writes whole. It has a durable content, the contents that later
 * writes gave it, and what a reader sees.
 */
final class Sector {
  static final int SIZE = 512;

  private byte @Nullable [] durable;
  private byte @Nullable [] live;
  private final List<byte[]> unsynced = new ArrayList<>(1);

  /** What a reader sees; null for zeros. */
  byte @Nullable [] live() {
    return live;
  }

  void write(int offset, byte[] source, int from, int count) {
    byte[] next = live == null ? new byte[SIZE] : live.clone();
    System.arraycopy(source, from, next, offset, count);
    live = next;
    unsynced.add(next);
  }

  void clearFrom(int offset) {
    byte[] next = live == null ? new byte[SIZE] : live.clone();
    Arrays.fill(next, offset, SIZE, (byte) 0);
    live = next;
    unsynced.add(next);
  }

  void sync() {
    if (!unsynced.isEmpty()) {
      durable = unsynced.getLast();
      unsynced.clear();
    }
  }

  /** The disk keeps the durable content or any of the later ones; a reader sees all of them. */
  void forgetWhatIsUnsynced(Surviving surviving, RandomGenerator random) {
    int kept = surviving.of(unsynced.size(), random);
    if (kept > 0) {
      durable = unsynced.get(kept - 1);
    }
    unsynced.clear();
  }

  /** Shows readers what is durable. */
  void crash() {
    live = durable;
  }
}
