package io.millrace.store.testkit.environment;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The smallest piece that a disk writes whole. It has a durable content, the contents that later
 * writes gave it, and what a reader sees. It can be damaged, until it is written again or healed: a
 * bit is wrong then, or the content before the last one is back.
 */
final class Sector {
  static final int SIZE = 512;

  private byte @Nullable [] durable;
  private byte @Nullable [] live;
  private final List<byte[]> unsynced = new ArrayList<>(1);

  /** What was durable before the last sync, and the number of that sync. */
  private byte @Nullable [] former;

  private long syncedAt;
  private int wrongBit = -1;
  private boolean old;

  /** What a reader sees; null for zeros. */
  byte @Nullable [] live() {
    byte @Nullable [] content = old ? former : live;
    if (wrongBit < 0) {
      return content;
    }
    byte[] wrong = content == null ? new byte[SIZE] : content.clone();
    wrong[wrongBit / Byte.SIZE] ^= (byte) (1 << (wrongBit % Byte.SIZE));
    return wrong;
  }

  boolean isDamaged() {
    return wrongBit >= 0 || old;
  }

  /** Turns one of its bits, in the bytes before {@code end}. */
  void rot(int end, RandomGenerator random) {
    wrongBit = random.nextInt(end * Byte.SIZE);
  }

  /**
   * Whether its last sync, which changed it, came before the file's last one.
   *
   * @param newestSync the number of the file's last sync
   */
  boolean isOutdated(long newestSync) {
    return durable != null && syncedAt < newestSync && !Arrays.equals(former, durable);
  }

  /** Brings back the content before its last sync. */
  void bringBack() {
    old = true;
  }

  /** Is as if it had never been damaged. */
  void heal() {
    wrongBit = -1;
    old = false;
  }

  private void overwritten(int offset, int count) {
    old = false;
    if (wrongBit >= offset * Byte.SIZE && wrongBit < (offset + count) * Byte.SIZE) {
      wrongBit = -1;
    }
  }

  void write(int offset, byte[] source, int from, int count) {
    byte[] next = live == null ? new byte[SIZE] : live.clone();
    System.arraycopy(source, from, next, offset, count);
    overwritten(offset, count);
    live = next;
    unsynced.add(next);
  }

  void clearFrom(int offset) {
    byte[] next = live == null ? new byte[SIZE] : live.clone();
    Arrays.fill(next, offset, SIZE, (byte) 0);
    overwritten(offset, SIZE - offset);
    live = next;
    unsynced.add(next);
  }

  /** Makes what was written durable, by the file's sync of that number. */
  void sync(long number) {
    if (!unsynced.isEmpty()) {
      former = durable;
      syncedAt = number;
      durable = unsynced.getLast();
      unsynced.clear();
    }
  }

  /** The disk keeps the durable content or any of the later ones; a reader sees all of them. */
  void forgetWhatIsUnsynced(Surviving surviving, RandomGenerator random) {
    int kept = surviving.of(unsynced.size(), random);
    if (kept > 0) {
      syncedAt = Long.MAX_VALUE;
      durable = unsynced.get(kept - 1);
    }
    unsynced.clear();
  }

  /** Shows readers what is durable. */
  void crash() {
    live = durable;
  }
}
