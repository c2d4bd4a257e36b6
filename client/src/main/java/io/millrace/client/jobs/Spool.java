package io.millrace.client.jobs;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A buffer that one thread writes while another reads it: up to 256 KiB in memory, then in a
 * temporary file. Writing never waits for reading. Each side is for use by one thread at a time;
 * any thread may break it off or close it.
 */
final class Spool implements AutoCloseable {
  private static final int MAX_IN_MEMORY = 256 << 10;

  private byte[] memory = new byte[0];
  private @Nullable FileChannel file;
  private long written;
  private boolean complete;
  private boolean closed;
  private @Nullable String broken;

  /** Adds bytes. They are dropped if the spool is closed or broken off. */
  synchronized void write(ByteBuffer bytes) throws IOException {
    if (closed || broken != null) {
      bytes.position(bytes.limit());
      return;
    }
    int count = bytes.remaining();
    FileChannel target = file;
    if (target == null && written + count > MAX_IN_MEMORY) {
      target = toFile();
    }
    if (target == null) {
      int at = (int) written;
      if (at + count > memory.length) {
        memory = Arrays.copyOf(memory, Math.max(at + count, Math.min(2 * at, MAX_IN_MEMORY)));
      }
      bytes.get(memory, at, count);
    } else {
      long at = written;
      while (bytes.hasRemaining()) {
        at += target.write(bytes, at);
      }
    }
    written += count;
    notifyAll();
  }

  private FileChannel toFile() throws IOException {
    Path path = Files.createTempFile("millrace-job-", ".spool");
    FileChannel opened =
        FileChannel.open(
            path,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE,
            StandardOpenOption.DELETE_ON_CLOSE);
    file = opened;
    ByteBuffer before = ByteBuffer.wrap(memory, 0, (int) written);
    while (before.hasRemaining()) {
      opened.write(before, before.position());
    }
    memory = new byte[0];
    return opened;
  }

  /** Marks the end of the bytes. */
  synchronized void complete() {
    complete = true;
    notifyAll();
  }

  /** Makes reading fail from now on, unless all bytes have arrived. */
  synchronized void breakOff(String reason) {
    if (!complete && broken == null) {
      broken = reason;
    }
    notifyAll();
  }

  /** The number of bytes that have arrived. */
  synchronized long size() {
    return written;
  }

  /** The bytes from the beginning. Reading waits for bytes that have not arrived. */
  InputStream input() {
    return new Input();
  }

  /** Discards the bytes. Reading fails from now on. */
  @Override
  public synchronized void close() {
    closed = true;
    memory = new byte[0];
    try {
      if (file != null) {
        file.close();
      }
    } catch (IOException e) {
      // The bytes are not needed any more.
      broken = e.toString();
    }
    notifyAll();
  }

  /** Waits for a byte at {@code at}. Returns the number of bytes from there; -1 at the end. */
  private synchronized long await(long at) throws IOException {
    try {
      while (written == at && !complete && !closed && broken == null) {
        wait();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while waiting for more", e);
    }
    if (closed) {
      throw new IOException("the bytes were discarded");
    }
    if (broken != null) {
      throw new IOException(broken);
    }
    return written == at ? -1 : written - at;
  }

  private synchronized @Nullable FileChannel copied(long at, byte[] target, int offset, int count) {
    if (file == null) {
      System.arraycopy(memory, (int) at, target, offset, count);
    }
    return file;
  }

  private final class Input extends InputStream {
    private long at;

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      if (length == 0) {
        return 0;
      }
      long ready = await(at);
      if (ready < 0) {
        return -1;
      }
      int count = (int) Math.min(ready, length);
      FileChannel source = copied(at, target, offset, count);
      if (source != null) {
        count = source.read(ByteBuffer.wrap(target, offset, count), at);
      }
      at += count;
      return count;
    }

    @Override
    public int available() {
      return (int) Math.min(Integer.MAX_VALUE, size() - at);
    }
  }
}
