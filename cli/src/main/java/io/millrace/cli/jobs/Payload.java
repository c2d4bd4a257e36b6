package io.millrace.cli.jobs;

import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.LongConsumer;

/**
 * What becomes the payload of a job.
 *
 * @param name a file, or - for standard input
 * @param size in bytes; -1 where that is known only at the end
 */
record Payload(String name, long size) {
  /**
   * A payload that is named on a command line.
   *
   * @throws UsageException when there is none to be read
   */
  static Payload named(String name) {
    if (name.equals("-")) {
      return new Payload(name, -1);
    }
    Path file = Path.of(name);
    if (!Files.exists(file)) {
      throw new UsageException("there is no file " + name);
    }
    if (Files.isDirectory(file)) {
      throw new UsageException(name + " is a folder");
    }
    if (!Files.isReadable(file)) {
      throw new UsageException("the file " + name + " cannot be read");
    }
    try {
      return new Payload(name, Files.isRegularFile(file) ? Files.size(file) : -1);
    } catch (IOException e) {
      throw new UsageException("the file " + name + " cannot be read: " + e, e);
    }
  }

  /** Whether it comes from standard input. */
  boolean isStandardInput() {
    return name.equals("-");
  }

  /**
   * Opens it.
   *
   * @param read learns how many bytes were read, again and again
   */
  InputStream open(Terminal terminal, LongConsumer read) throws IOException {
    // Standard input is not ours to close.
    InputStream source =
        isStandardInput()
            ? new FilterInputStream(terminal.in()) {
              @Override
              public void close() {}
            }
            : Files.newInputStream(Path.of(name));
    return new Counted(source, size, read);
  }

  /** Gives as many bytes as were announced, no more and no less. */
  private static final class Counted extends FilterInputStream {
    private final long size;
    private final LongConsumer read;
    private long taken;

    Counted(InputStream source, long size, LongConsumer read) {
      super(source);
      this.size = size;
      this.read = read;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      int most = size < 0 ? length : (int) Math.min(length, size - taken);
      if (most == 0) {
        return length == 0 ? 0 : -1;
      }
      int count = super.read(target, offset, most);
      if (count < 0 && size >= 0) {
        throw new EOFException("it became shorter while it was read");
      }
      taken += Math.max(count, 0);
      read.accept(taken);
      return count;
    }
  }
}
