package io.millrace.store.testkit.environment;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The content of a file of a simulated disk, independent of its name. Absent sectors are zeros. */
final class FileContent {
  private final Map<Long, Sector> sectors = new HashMap<>();
  private final Set<Sector> dirty =
      new LinkedHashSet<>(); // ordered, so that crashes are reproducible
  private final List<Long> unsyncedSizes = new ArrayList<>();
  private long durableSize;
  private long size;
  private long syncs;

  long size() {
    return size;
  }

  int read(long offset, ByteBuffer target) {
    int total = (int) Math.max(0, Math.min(target.remaining(), size - offset));
    for (int done = 0; done < total; ) {
      long at = offset + done;
      int inSector = (int) (at % Sector.SIZE);
      int count = Math.min(total - done, Sector.SIZE - inSector);
      @Nullable Sector sector = sectors.get(at / Sector.SIZE);
      byte @Nullable [] live = sector == null ? null : sector.live();
      if (live == null) {
        target.put(new byte[count]);
      } else {
        target.put(live, inSector, count);
      }
      done += count;
    }
    return total;
  }

  void write(long offset, byte[] source, int length) {
    for (int done = 0; done < length; ) {
      long at = offset + done;
      int inSector = (int) (at % Sector.SIZE);
      int count = Math.min(length - done, Sector.SIZE - inSector);
      Sector sector = sectors.computeIfAbsent(at / Sector.SIZE, _ -> new Sector());
      sector.write(inSector, source, done, count);
      dirty.add(sector);
      done += count;
    }
    resize(Math.max(size, offset + length));
  }

  void truncate(long newSize) {
    if (newSize >= size) {
      return;
    }
    sectors.forEach((number, sector) -> {
      long start = number * Sector.SIZE;
      if (start + Sector.SIZE > newSize && sector.live() != null) {
        sector.clearFrom((int) Math.max(0, newSize - start));
        dirty.add(sector);
      }
    });
    resize(newSize);
  }

  /** Sets the size. New bytes are zeros. */
  void resize(long newSize) {
    if (newSize != size) {
      size = newSize;
      unsyncedSizes.add(newSize);
    }
  }

  void sync() {
    if (!dirty.isEmpty()) {
      syncs++;
      dirty.forEach(sector -> sector.sync(syncs));
      dirty.clear();
    }
    durableSize = size;
    unsyncedSizes.clear();
  }

  /** Simulates a failed sync: some writes are lost for good, although readers still see them. */
  void failSync(RandomGenerator random) {
    Surviving surviving = Surviving.pick(random);
    dirty.forEach(sector -> sector.forgetWhatIsUnsynced(surviving, random));
    dirty.clear();
    keepSize(surviving, random);
  }

  void crash(Surviving surviving, RandomGenerator random) {
    dirty.forEach(sector -> sector.forgetWhatIsUnsynced(surviving, random));
    dirty.clear();
    // Every sector: after a failed sync, readers saw content that is not on the disk.
    sectors.values().forEach(Sector::crash);
    keepSize(surviving, random);
    size = durableSize;
    sectors.keySet().removeIf(number -> number * Sector.SIZE >= size);
    @Nullable Sector last = sectors.get(size / Sector.SIZE);
    if (last != null) {
      last.clearFrom((int) (size % Sector.SIZE));
      last.sync(Long.MAX_VALUE);
    }
  }

  /** Flips a bit of a random sector and returns the sector; null if the file is empty. */
  @Nullable Sector rot(RandomGenerator random) {
    List<Map.Entry<Long, Sector>> written =
        inOrder().filter(each -> each.getKey() * Sector.SIZE < size).toList();
    if (written.isEmpty()) {
      return null;
    }
    // Half of the time the newest sector, because little was written after it.
    int first = random.nextBoolean() ? 0 : Math.max(0, written.size() - 3);
    Map.Entry<Long, Sector> picked = written.get(random.nextInt(first, written.size()));
    long end = Math.min(Sector.SIZE, size - picked.getKey() * Sector.SIZE);
    picked.getValue().rot((int) end, random);
    return picked.getValue();
  }

  /**
   * Restores the content that a sector had before its last sync, and returns the sector; null if no
   * sector was synced before the last sync of the file.
   */
  @Nullable Sector bringBack(RandomGenerator random) {
    List<Sector> able =
        inOrder().map(Map.Entry::getValue).filter(sector -> sector.isOutdated(syncs)).toList();
    if (able.isEmpty()) {
      return null;
    }
    Sector sector = able.get(random.nextInt(able.size()));
    sector.bringBack();
    return sector;
  }

  private Stream<Map.Entry<Long, Sector>> inOrder() {
    return sectors.entrySet().stream().sorted(Map.Entry.comparingByKey());
  }

  private void keepSize(Surviving surviving, RandomGenerator random) {
    int kept = surviving.of(unsyncedSizes.size(), random);
    if (kept > 0) {
      durableSize = unsyncedSizes.get(kept - 1);
    }
    unsyncedSizes.clear();
  }

  /**
   * The smallest unit that a disk writes atomically. It has a durable content, the contents of
   * later writes, and the content that readers see. Until it is written again or healed, it can be
   * damaged: a bit is flipped, or an older content is back.
   */
  static final class Sector {
    static final int SIZE = 512;

    private byte @Nullable [] durable;
    private byte @Nullable [] live;
    private final List<byte[]> unsynced = new ArrayList<>(1);

    /** The durable content before the last sync. */
    private byte @Nullable [] former;

    private long syncedAt;
    private int wrongBit = -1;
    private boolean old;

    /** The content that readers see; null for zeros. */
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

    /** Flips one bit in the bytes before {@code end}. */
    void rot(int end, RandomGenerator random) {
      wrongBit = random.nextInt(end * Byte.SIZE);
    }

    /**
     * Whether the last sync that changed it came before the last sync of the file.
     *
     * @param newestSync the number of the last sync of the file
     */
    boolean isOutdated(long newestSync) {
      return durable != null && syncedAt < newestSync && !Arrays.equals(former, durable);
    }

    /** Restores the content before its last sync. */
    void bringBack() {
      old = true;
    }

    /** Undoes the damage. */
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

    /** Makes the writes durable, with the number of this sync. */
    void sync(long number) {
      if (!unsynced.isEmpty()) {
        former = durable;
        syncedAt = number;
        durable = unsynced.getLast();
        unsynced.clear();
      }
    }

    /**
     * Keeps the durable content or that of any later write; readers see the newest until a crash.
     */
    void forgetWhatIsUnsynced(Surviving surviving, RandomGenerator random) {
      int kept = surviving.of(unsynced.size(), random);
      if (kept > 0) {
        syncedAt = Long.MAX_VALUE;
        durable = unsynced.get(kept - 1);
      }
      unsynced.clear();
    }

    /** From now on, readers see the durable content. */
    void crash() {
      live = durable;
    }
  }

  /** How many of the changes that were not synced survive a crash. */
  enum Surviving {
    NOTHING,
    ALL,
    ANY;

    private static final Surviving[] VALUES = values();

    static Surviving pick(RandomGenerator random) {
      return VALUES[random.nextInt(VALUES.length)];
    }

    /** How many of {@code count} changes in a row survive. */
    int of(int count, RandomGenerator random) {
      return switch (this) {
        case NOTHING -> 0;
        case ALL -> count;
        case ANY -> count == 0 ? 0 : random.nextInt(count + 1);
      };
    }
  }
}
