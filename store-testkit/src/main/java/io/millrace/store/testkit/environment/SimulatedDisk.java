package io.millrace.store.testkit.environment;

import io.millrace.store.environment.Disk;
import io.millrace.store.environment.Folder;
import io.millrace.store.testkit.environment.FileContent.Sector;
import io.millrace.store.testkit.environment.FileContent.Surviving;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A disk in memory that remembers what was synced and what was not, and that fails on demand.
 *
 * <p>On a crash, each 512-byte sector of a file keeps its durable content or that of any write
 * since, independently of the others, so writes are kept, lost or torn in any order; so are sizes,
 * creations, renames and deletes whose file or folder was not synced. A folder whose name was not
 * synced in the one around it may be lost with all that is in it. A sync that fails may lose what
 * it should have kept, while readers see it until the next crash. Safe for use by threads.
 *
 * <p>Only the root is there from the beginning; relative paths begin there too.
 */
public final class SimulatedDisk implements Disk {
  private static final long NEVER = Long.MAX_VALUE;
  private static final Path ROOT = Path.of("/");

  private final RandomGenerator random;
  private final FolderContent root = new FolderContent();
  private long operations;
  private long cutAt = NEVER;
  private boolean powerOff;
  private long failSyncAt = NEVER;
  private long failWriteAt = NEVER;
  private long reads;
  private long failReadAt = NEVER;
  private long nameOperations;
  private long failNameAt = NEVER;
  private long faults;
  private boolean forgetfulSyncs;
  private boolean refusesOpens;
  private @Nullable Error allocationError;
  private long capacityBytes = Long.MAX_VALUE;
  private int boot;
  private final List<Sector> damaged = new ArrayList<>();

  /** An empty disk that draws from {@code random} what survives. */
  public SimulatedDisk(RandomGenerator random) {
    this.random = random;
  }

  @Override
  public Path absolute(Path path) {
    return ROOT.resolve(path).normalize();
  }

  @Override
  public synchronized Folder open(Path path) throws IOException {
    requirePower(boot);
    return new SimulatedFolder(this, path, find(path), boot);
  }

  @Override
  public synchronized void makeFolder(Path path) throws IOException {
    Path absolute = absolute(path);
    FolderContent parent = find(Objects.requireNonNullElse(absolute.getParent(), ROOT));
    String name = String.valueOf(absolute.getFileName());
    if (absolute.equals(ROOT) || parent.folder(name) != null || parent.file(name) != null) {
      throw new FileAlreadyExistsException(path.toString());
    }
    changeNames(boot, () -> parent.makeFolder(name));
  }

  private FolderContent find(Path path) throws NoSuchFileException {
    FolderContent found = root;
    for (Path name : absolute(path)) {
      @Nullable FolderContent next = found.folder(name.toString());
      if (next == null) {
        throw new NoSuchFileException(path.toString());
      }
      found = next;
    }
    return found;
  }

  /** How many writes, syncs and changes of names there have been. */
  public synchronized long operations() {
    return operations;
  }

  /** Cuts the power at the {@code count}th operation from now, 1 for the next. */
  public synchronized void cutPowerAfter(long count) {
    cutAt = operations + count;
  }

  /** Whether the power is off: everything fails until {@link #crash}. */
  public synchronized boolean powerOff() {
    return powerOff;
  }

  /** Cuts the power now. */
  public synchronized void cutPowerNow() {
    powerOff = true;
  }

  /** Makes a sync fail: the first of a file at or after the {@code count}th operation from now. */
  public synchronized void failSyncAfter(long count) {
    failSyncAt = operations + count;
  }

  /** Makes a write fail halfway: the first at or after the {@code count}th operation from now. */
  public synchronized void failWriteAfter(long count) {
    failWriteAt = operations + count;
  }

  /** Makes a read of a file fail: the {@code count}th from now. */
  public synchronized void failReadAfter(long count) {
    failReadAt = reads + count;
  }

  /**
   * Makes an operation of a folder fail, the {@code count}th from now: listing, locking, creating,
   * renaming, deleting, making a folder or a sync. A change that fails may have happened all the
   * same.
   */
  public synchronized void failFolderAfter(long count) {
    failNameAt = nameOperations + count;
  }

  /** Refuses to open or create files, as without free file descriptors. */
  public synchronized void refuseOpens(boolean on) {
    refusesOpens = on;
  }

  /** Throws this when room is allocated for a file; null for nothing. */
  public synchronized void failAllocations(@Nullable Error error) {
    allocationError = error;
  }

  /** How many operations have failed because of faults asked for, a lack of room among them. */
  public synchronized long faults() {
    return faults;
  }

  /**
   * Turns a bit of what some file holds, for readers now and after crashes, until that is written
   * again or {@linkplain #heal healed}.
   *
   * @return whether there was anything
   */
  public synchronized boolean rot() {
    return damage(file -> file.rot(random));
  }

  /**
   * Lets old data come back: some sector of a file again holds what it did before its last sync, as
   * if the disk had lost that write. Not the very last sync of a file: without anything that was
   * written later, nobody could tell that it is lost.
   *
   * @return whether there was anything
   */
  public synchronized boolean bringBack() {
    return damage(file -> file.bringBack(random));
  }

  private boolean damage(Function<FileContent, @Nullable Sector> how) {
    List<FileContent> files = root.allFiles();
    if (files.isEmpty()) {
      return false;
    }
    @Nullable Sector sector = how.apply(files.get(random.nextInt(files.size())));
    if (sector != null) {
      damaged.add(sector);
    }
    return sector != null;
  }

  /** Whether anything that {@link #rot} or {@link #bringBack} did may still be there. */
  public synchronized boolean damaged() {
    return damaged.stream().anyMatch(Sector::isDamaged);
  }

  /** Undoes what {@link #rot} and {@link #bringBack} did. */
  public synchronized void heal() {
    damaged.forEach(Sector::heal);
    damaged.clear();
  }

  /**
   * The process that uses the disk ends, and the machine goes on: locks are freed, everything
   * opened before is dead, and nothing is lost. What was not synced still may be, by the next
   * crash.
   */
  public synchronized void endProcess() {
    root.unlockAll();
    boot++;
    mend();
  }

  /** Makes syncs of files report success and do nothing, as a disk that lies would. */
  public synchronized void forgetSyncs(boolean on) {
    forgetfulSyncs = on;
  }

  /** Limits the disk to so many bytes over all files; writes and allocations beyond it fail. */
  public synchronized void limitTo(long bytes) {
    capacityBytes = bytes;
  }

  /** Whether {@link #limitTo} limits it. */
  public synchronized boolean isLimited() {
    return capacityBytes != NEVER;
  }

  /** The bytes that are free; {@link Long#MAX_VALUE} without a limit. */
  synchronized long freeBytes() {
    return capacityBytes == Long.MAX_VALUE
        ? Long.MAX_VALUE
        : Math.max(0, capacityBytes - usedBytes());
  }

  /** The bytes of all files together. */
  public synchronized long usedBytes() {
    return root.usedBytes();
  }

  /**
   * What was not synced is kept, lost or torn, locks are freed, everything opened before is dead,
   * and the power is back without any of the faults asked for.
   */
  public synchronized void crash() {
    Surviving surviving = Surviving.pick(random);
    root.crash(surviving, random);
    boot++;
    powerOff = false;
    mend();
  }

  /**
   * Takes back the faults asked for that have not happened yet, and the limit of bytes; not damage.
   */
  public synchronized void mend() {
    cutAt = NEVER;
    failSyncAt = NEVER;
    failWriteAt = NEVER;
    failReadAt = NEVER;
    failNameAt = NEVER;
    capacityBytes = Long.MAX_VALUE;
    refusesOpens = false;
    allocationError = null;
  }

  void requirePower(int openedAt) throws IOException {
    if (powerOff) {
      throw new IOException("the power is off");
    }
    if (openedAt != boot) {
      throw new IOException("opened before the last crash");
    }
  }

  boolean opened(int openedAt) {
    return openedAt == boot;
  }

  void operation(int openedAt) throws IOException {
    requirePower(openedAt);
    operations++;
    if (operations >= cutAt) {
      powerOff = true;
      throw new IOException("the power was cut");
    }
  }

  void write(FileContent file, long offset, byte[] source, int openedAt) throws IOException {
    boolean cut = operations + 1 >= cutAt && !powerOff && openedAt == boot;
    boolean fail = operations + 1 >= failWriteAt;
    if (cut || fail) {
      file.write(offset, source, source.length == 0 ? 0 : random.nextInt(source.length + 1));
    }
    operation(openedAt);
    if (fail) {
      failWriteAt = NEVER;
      faults++;
      throw new IOException("input/output error in a write");
    }
    requireRoom(file, offset + source.length);
    file.write(offset, source, source.length);
  }

  void requireDescriptor() throws IOException {
    if (refusesOpens) {
      faults++;
      throw new IOException("too many open files");
    }
  }

  void allocate(FileContent file, long size, int openedAt) throws IOException {
    if (allocationError != null) {
      throw allocationError;
    }
    operation(openedAt);
    requireRoom(file, size);
    file.resize(Math.max(size, file.size()));
  }

  private void requireRoom(FileContent file, long size) throws IOException {
    if (capacityBytes != Long.MAX_VALUE
        && size > file.size()
        && usedBytes() + size - file.size() > capacityBytes) {
      faults++;
      throw new IOException("no space left on device");
    }
  }

  void read() throws IOException {
    reads++;
    if (reads >= failReadAt) {
      failReadAt = NEVER;
      faults++;
      throw new IOException("input/output error in a read");
    }
  }

  /** An operation of a folder that changes nothing. */
  void look(int openedAt) throws IOException {
    requirePower(openedAt);
    changeNames(() -> {});
  }

  /** An operation of a folder that changes names or makes them durable. */
  void changeNames(int openedAt, Runnable change) throws IOException {
    operation(openedAt);
    changeNames(change);
  }

  private void changeNames(Runnable change) throws IOException {
    nameOperations++;
    if (nameOperations < failNameAt) {
      change.run();
      return;
    }
    failNameAt = NEVER;
    faults++;
    if (random.nextBoolean()) {
      change.run();
    }
    throw new IOException("input/output error in a folder");
  }

  void sync(FileContent file, int openedAt) throws IOException {
    operation(openedAt);
    if (operations >= failSyncAt) {
      failSyncAt = NEVER;
      faults++;
      file.failSync(random);
      throw new IOException("input/output error in a sync");
    }
    if (!forgetfulSyncs) {
      file.sync();
    }
  }
}
