package io.millrace.store.journal.files;

import io.millrace.store.environment.Activity;
import io.millrace.store.environment.Disk;
import io.millrace.store.environment.DiskFile;
import io.millrace.store.environment.Driver;
import io.millrace.store.environment.Environment;
import io.millrace.store.environment.Folder;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * One folder in memory, whose files a test can change, on a disk that never fails; and one activity
 * that moves only when the test says so.
 */
final class MemoryEnvironment implements Environment {
  /** What a file holds, whatever its name. */
  static final class Content {
    byte[] bytes;

    Content(byte[] bytes) {
      this.bytes = bytes;
    }
  }

  final TreeMap<String, Content> files = new TreeMap<>();
  private final SplittableRandom random;
  private @Nullable Activity activity;

  MemoryEnvironment(long seed) {
    random = new SplittableRandom(seed);
  }

  /** Runs the activity until it has nothing to do now. */
  void run() {
    while (activity != null) {
      long wait = activity.step();
      if (wait == Activity.FINISHED) {
        activity = null;
      } else if (wait != 0) {
        return;
      }
    }
  }

  @Override
  public long wallMillis() {
    return 0;
  }

  @Override
  public long nanos() {
    return 0;
  }

  @Override
  public RandomGenerator newRandom() {
    return random.split();
  }

  @Override
  public <T> T await(CompletableFuture<T> answer) {
    while (!answer.isDone()) {
      run();
    }
    return answer.join();
  }

  @Override
  public Driver drive(String name, Activity driven) {
    activity = driven;
    return new Driver() {
      @Override
      public void signal() {}

      @Override
      public void join() {
        while (activity != null) {
          run();
        }
      }
    };
  }

  @Override
  public Disk disk() {
    return new Disk() {
      @Override
      public Folder open(Path path) {
        return new MemoryFolder();
      }

      @Override
      public Folder folder(Path path) {
        return new MemoryFolder();
      }

      @Override
      public void makeFolder(Path path) {
        throw new AssertionError("every folder is there already");
      }
    };
  }

  private final class MemoryFolder implements Folder {
    @Override
    public boolean lock() {
      return true;
    }

    @Override
    public List<String> list() {
      return List.copyOf(files.keySet());
    }

    @Override
    public DiskFile open(String name) {
      return new MemoryFile(files.computeIfAbsent(name, _ -> new Content(new byte[0])));
    }

    @Override
    public DiskFile read(String name) throws NoSuchFileException {
      Content content = files.get(name);
      if (content == null) {
        throw new NoSuchFileException(name);
      }
      return new MemoryFile(content);
    }

    @Override
    public void rename(String from, String to) {
      files.put(to, Objects.requireNonNull(files.remove(from)));
    }

    @Override
    public void delete(String name) {
      files.remove(name);
    }

    @Override
    public void sync() {}

    @Override
    public long usableBytes() {
      return Long.MAX_VALUE;
    }

    @Override
    public String describe() {
      return "memory";
    }

    @Override
    public void close() {}
  }

  private record MemoryFile(Content content) implements DiskFile {
    @Override
    public long size() {
      return content.bytes.length;
    }

    @Override
    public int read(long offset, ByteBuffer target) {
      int count = (int) Math.max(0, Math.min(target.remaining(), size() - offset));
      if (count > 0) {
        target.put(content.bytes, (int) offset, count);
      }
      return count;
    }

    @Override
    public void write(long offset, ByteBuffer source) {
      int count = source.remaining();
      allocate(offset + count);
      source.get(content.bytes, (int) offset, count);
    }

    @Override
    public void allocate(long size) {
      if (size > size()) {
        truncate(size);
      }
    }

    @Override
    public void truncate(long size) {
      content.bytes = Arrays.copyOf(content.bytes, (int) size);
    }

    @Override
    public void sync() {}

    @Override
    public void close() {}
  }
}
