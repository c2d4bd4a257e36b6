package io.millrace.store.journal.files;

import io.millrace.store.environment.Disk;
import io.millrace.store.environment.DiskFile;
import io.millrace.store.environment.Folder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * One folder in memory that counts what changes it, stops at a chosen operation, and then forgets
 * what was not synced: sectors of files one by one, names from some point on.
 */
final class ForgetfulDisk implements Disk {
  private static final int SECTOR = 512;

  static final class Content {
    byte[] live = {};
    byte[] durable = {};
    final BitSet unsynced = new BitSet();
  }

  TreeMap<String, Content> names = new TreeMap<>();
  private List<TreeMap<String, Content>> nameHistory = new ArrayList<>(List.of(new TreeMap<>()));
  private boolean locked;

  /** How many more operations succeed. */
  long operationsLeft = Long.MAX_VALUE;

  /** Thrown when room is allocated; null for nothing. */
  @Nullable Error errorInAllocation;

  /** Whether no file can be opened, as without free file descriptors. */
  boolean noDescriptors;

  /** How many more syncs of files succeed. */
  long syncsLeft = Long.MAX_VALUE;

  /** The room for all files. */
  long capacityBytes = Long.MAX_VALUE;

  long operations;

  private void operation() throws IOException {
    if (operationsLeft-- <= 0) {
      operationsLeft = 0;
      throw new IOException("the power is gone");
    }
    operations++;
  }

  private long usedBytes() {
    return names.values().stream().mapToLong(each -> each.live.length).sum();
  }

  private void namesChanged() {
    nameHistory.add(new TreeMap<>(names));
  }

  /** Ends the process that holds the lock; the machine and all it has in memory goes on. */
  void kill() {
    locked = false;
    operationsLeft = Long.MAX_VALUE;
    syncsLeft = Long.MAX_VALUE;
  }

  /** Loses what need not have lasted, and lets operations succeed again. */
  void crash(RandomGenerator random) {
    names = new TreeMap<>(nameHistory.get(random.nextInt(nameHistory.size())));
    for (Content content : names.values()) {
      content.live = mixed(content, random);
      content.durable = content.live.clone();
      content.unsynced.clear();
    }
    nameHistory = new ArrayList<>(List.of(new TreeMap<>(names)));
    locked = false;
    operationsLeft = Long.MAX_VALUE;
    syncsLeft = Long.MAX_VALUE;
    capacityBytes = Long.MAX_VALUE;
  }

  private static byte[] mixed(Content content, RandomGenerator random) {
    int size = random.nextBoolean() ? content.live.length : content.durable.length;
    byte[] mixed = Arrays.copyOf(content.durable, size);
    int mode = random.nextInt(3);
    for (int at = 0; at < Math.min(size, content.live.length); at += SECTOR) {
      if (mode == 0 || (mode == 1 && random.nextBoolean())) {
        int count = Math.min(SECTOR, Math.min(size, content.live.length) - at);
        System.arraycopy(content.live, at, mixed, at, count);
      }
    }
    return mixed;
  }

  @Override
  public Folder open(Path path) {
    return new MemoryFolder();
  }

  @Override
  public void makeFolder(Path path) {
    throw new AssertionError("every folder is there already");
  }

  @Override
  public Folder folder(Path path) {
    return open(path);
  }

  private final class MemoryFolder implements Folder {
    private boolean mine;

    @Override
    public boolean lock() {
      if (locked) {
        return false;
      }
      locked = true;
      mine = true;
      return true;
    }

    @Override
    public List<String> list() {
      return List.copyOf(names.keySet());
    }

    @Override
    public DiskFile open(String name) throws IOException {
      if (noDescriptors) {
        throw new IOException("Too many open files");
      }
      if (!names.containsKey(name)) {
        operation();
        names.put(name, new Content());
        namesChanged();
      }
      return new MemoryFile(names.get(name));
    }

    @Override
    public DiskFile read(String name) throws IOException {
      Content content = names.get(name);
      if (content == null) {
        throw new NoSuchFileException(name);
      }
      return new MemoryFile(content);
    }

    @Override
    public void rename(String from, String to) throws IOException {
      operation();
      Content content = names.remove(from);
      if (content == null) {
        throw new IOException("no file " + from);
      }
      names.put(to, content);
      namesChanged();
    }

    @Override
    public void delete(String name) throws IOException {
      operation();
      names.remove(name);
      namesChanged();
    }

    @Override
    public void sync() throws IOException {
      operation();
      nameHistory = new ArrayList<>(List.of(new TreeMap<>(names)));
    }

    @Override
    public long usableBytes() {
      return capacityBytes - usedBytes();
    }

    @Override
    public String describe() {
      return "memory";
    }

    @Override
    public void close() {
      if (mine) {
        locked = false;
      }
    }
  }

  private final class MemoryFile implements DiskFile {
    private final Content content;

    MemoryFile(Content content) {
      this.content = content;
    }

    @Override
    public long size() {
      return content.live.length;
    }

    @Override
    public int read(long offset, ByteBuffer target) {
      int count = (int) Math.max(0, Math.min(target.remaining(), content.live.length - offset));
      if (count > 0) {
        target.put(content.live, (int) offset, count);
      }
      return count;
    }

    @Override
    public void write(long offset, ByteBuffer source) throws IOException {
      operation();
      int count = source.remaining();
      resize(Math.max(content.live.length, (int) offset + count));
      source.get(content.live, (int) offset, count);
      content.unsynced.set((int) offset / SECTOR, ((int) offset + count + SECTOR - 1) / SECTOR);
    }

    @Override
    public void allocate(long size) throws IOException {
      if (errorInAllocation != null) {
        throw errorInAllocation;
      }
      operation();
      resize(Math.max(content.live.length, (int) size));
    }

    @Override
    public void truncate(long size) throws IOException {
      operation();
      content.live = Arrays.copyOf(content.live, (int) size);
    }

    private void resize(int size) throws IOException {
      if (size > content.live.length && usedBytes() + size - content.live.length > capacityBytes) {
        throw new IOException("No space left on device");
      }
      if (size > content.live.length) {
        content.live = Arrays.copyOf(content.live, size);
      }
    }

    @Override
    public void sync() throws IOException {
      operation();
      if (syncsLeft-- <= 0) {
        syncsLeft = 0;
        // As file systems do: what could not be written counts as written from now on.
        content.unsynced.clear();
        throw new IOException("the disk does not answer");
      }
      content.durable = Arrays.copyOf(content.durable, content.live.length);
      content.unsynced.stream().forEach(this::makeDurable);
      content.unsynced.clear();
    }

    private void makeDurable(int sector) {
      int at = sector * SECTOR;
      int count = Math.min(SECTOR, content.live.length - at);
      if (count > 0) {
        System.arraycopy(content.live, at, content.durable, at, count);
      }
    }

    @Override
    public void close() {}
  }
}
