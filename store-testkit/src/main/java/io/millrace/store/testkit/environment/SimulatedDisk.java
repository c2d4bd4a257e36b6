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
 * A disk in memory that distinguishes synced from unsynced changes, and fails on demand.
 *
 * <p>On a crash, each 512-byte sector of a file keeps its durable content or that of any write
 * since, independently of the others, so writes are kept, lost or torn in any order; so are sizes,
 * creations, renames and deletes whose file or folder was not synced. A folder whose name was not
 * synced in its parent may be lost with its whole content. A failed sync may lose writes, although
 * readers see them until the next crash. Thread-safe.
 *
 * <p>At first only the root exists; relative paths start there.
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

  /** An empty disk; {@code random} decides what survives crashes. */
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

  /** The number of writes, syncs and changes of names so far. */
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

  /** Makes the first sync of a file at or after the {@code count}th operation from now fail. */
  public synchronized void failSyncAfter(long count) {
    failSyncAt = operations + count;
  }

  /** Makes the first write at or after the {@code count}th operation from now fail halfway. */
  public synchronized void failWriteAfter(long count) {
    failWriteAt = operations + count;
  }

  /** Makes the {@code count}th read of a file from now fail. */
  public synchronized void failReadAfter(long count) {
    failReadAt = reads + count;
  }

  /**
   * Makes the {@code count}th operation on a folder from now fail: listing, locking, creating,
   * renaming, deleting, making a folder or a sync. A change that fails may have happened anyway.
   */
  public synchronized void failFolderAfter(long count) {
    failNameAt = nameOperations + count;
  }

  /** Refuses to open or create files, as if no file descriptor were free. */
  public synchronized void refuseOpens(boolean on) {
    refusesOpens = on;
  }

  /** Throws this error when space is allocated for a file; null for none. */
  public synchronized void failAllocations(@Nullable Error error) {
    allocationError = error;
  }

  /**
   * The number of operations that have failed because of requested faults, including a lack of
   * space.
   */
  public synchronized long faults() {
    return faults;
  }

  /**
   * Flips a bit in some file, for readers now and after crashes, until the sector is written again
   * or {@linkplain #heal healed}.
   *
   * @return whether there was anything to damage
   */
  public synchronized boolean rot() {
    return damage(file -> file.rot(random));
  }

  /**
   * Restores old data: some sector of a file gets its content from before its last sync, as if the
   * disk had lost that write. The last sync of a file is exempt, since a loss could not be detected
   * if nothing was written later.
   *
   * @return whether there was anything to damage
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

  /** Whether damage by {@link #rot} or {@link #bringBack} may still exist. */
  public synchronized boolean damaged() {
    return damaged.stream().anyMatch(Sector::isDamaged);
  }

  /** Undoes the damage by {@link #rot} and {@link #bringBack}. */
  public synchronized void heal() {
    damaged.forEach(Sector::heal);
    damaged.clear();
  }

  /**
   * Simulates the end of the process: locks are released, open files become unusable, and nothing
   * is lost. Unsynced changes can still be lost in the next crash.
   */
  public synchronized void endProcess() {
    root.unlockAll();
    boot++;
    mend();
  }

  /** Makes syncs of files report success without doing anything. */
  public synchronized void forgetSyncs(boolean on) {
    forgetfulSyncs = on;
  }

  /** Limits the total size of all files; writes and allocations beyond it fail. */
  public synchronized void limitTo(long bytes) {
    capacityBytes = bytes;
  }

  /** Whether a limit is set with {@link #limitTo}. */
  public synchronized boolean isLimited() {
    return capacityBytes != NEVER;
  }

  /** The bytes that are free; {@link Long#MAX_VALUE} without a limit. */
  synchronized long freeBytes() {
    return capacityBytes == Long.MAX_VALUE
        ? Long.MAX_VALUE
        : Math.max(0, capacityBytes - usedBytes());
  }

  /** The total size of all files. */
  public synchronized long usedBytes() {
    return root.usedBytes();
  }

  /**
   * Simulates a crash and a restart: unsynced changes are kept, lost or torn, locks are released,
   * open files become unusable, and the power is back without any requested faults.
   */
  public synchronized void crash() {
    Surviving surviving = Surviving.pick(random);
    root.crash(surviving, random);
    boot++;
    powerOff = false;
    mend();
  }

  /** Cancels requested faults that have not happened yet, and the limit; damage stays. */
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

  /** Counts an operation on a folder that changes nothing. */
  void look(int openedAt) throws IOException {
    requirePower(openedAt);
    changeNames(() -> {});
  }

  /** Counts an operation on a folder that changes names or makes them durable, and runs it. */
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
