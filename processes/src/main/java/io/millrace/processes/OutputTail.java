package io.millrace.processes;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

/**
 * An output of a program, readable by offset while it grows. Holds no file open between calls and
 * keeps nothing in memory. One whose file is not there, since nothing was written yet or the folder
 * is gone, is empty. Safe for use by any number of threads.
 *
 * <p>To read all of it: note whether {@link RunningProcess#onExit()} is done, read until nothing
 * comes, and stop if it was done before; otherwise read on later.
 */
public final class OutputTail {
  /** The most bytes of one read: 16 MiB. */
  public static final int MAX_READ = 16 * 1024 * 1024;

  private final Path file;

  OutputTail(Path file) {
    this.file = file;
  }

  /** Its size in bytes so far. */
  public long size() {
    try {
      return Files.size(file);
    } catch (NoSuchFileException e) {
      return 0;
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  /**
   * Reads what is there now from {@code offset}; never waits.
   *
   * @param offset in bytes, from 0
   * @param max the most bytes to answer, 1 to {@link #MAX_READ}
   * @return the bytes; empty at or past what there is so far
   * @throws IllegalArgumentException when a number is out of its range
   * @throws ProcessException when the file cannot be read
   */
  public byte[] read(long offset, int max) {
    checkOffset(offset);
    if (max < 1 || max > MAX_READ) {
      throw new IllegalArgumentException("a read is of 1 to " + MAX_READ + " bytes, not " + max);
    }
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      long there = channel.size() - offset;
      if (there <= 0) {
        return new byte[0];
      }
      ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(there, max));
      while (bytes.hasRemaining() && channel.read(bytes, offset + bytes.position()) >= 0) {}
      return bytes.hasRemaining() ? Arrays.copyOf(bytes.array(), bytes.position()) : bytes.array();
    } catch (NoSuchFileException e) {
      return new byte[0];
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  /**
   * Opens it from {@code offset} to the end that it has when the reader gets there; made to hand a
   * finished output on as a stream.
   *
   * @throws IllegalArgumentException when {@code offset} is negative
   * @throws ProcessException when the file cannot be opened
   */
  public InputStream open(long offset) {
    checkOffset(offset);
    try {
      FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
      channel.position(offset);
      return Channels.newInputStream(channel);
    } catch (NoSuchFileException e) {
      return InputStream.nullInputStream();
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  private static void checkOffset(long offset) {
    if (offset < 0) {
      throw new IllegalArgumentException("the offset is negative: " + offset);
    }
  }

  private ProcessException unreadable(IOException e) {
    return new ProcessException("the output " + file + " cannot be read: " + e, e);
  }
}
