package io.millrace.queues.runner;

import io.millrace.blobs.BlobStore;
import io.millrace.processes.PrivateFiles;
import io.millrace.queues.Output.OutputFile;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One output of a task: a local file that it is written to, and its copy in the blob store, which
 * follows in chunks. Nothing here fails the task: what goes wrong becomes its {@link #loss}. {@link
 * #cut} and {@link #loss} may be called while another thread uploads.
 */
final class Capture {
  private static final Logger LOG = LoggerFactory.getLogger(Capture.class);

  /** How much more than is kept may be there for a moment. */
  private static final long SLACK_BYTES = 1 << 20;

  private final String name;
  private final Path file;
  private final String prefix;
  private volatile @Nullable String loss;
  private long uploadedBytes;

  /** Output {@code name} into a new file; the chunks get names that begin with {@code prefix}. */
  Capture(String name, Path file, String prefix) {
    this.name = name;
    this.file = file;
    this.prefix = prefix;
    try {
      PrivateFiles.createFile(file);
    } catch (IOException e) {
      lost("there is no file for it: " + e);
    }
  }

  String name() {
    return name;
  }

  String prefix() {
    return prefix;
  }

  /** What was lost and why; null when nothing was. */
  @Nullable String loss() {
    return loss;
  }

  void lost(String why) {
    if (loss == null) {
      loss = name + ": " + why;
    }
  }

  ProcessBuilder.Redirect redirect() {
    return Files.exists(file)
        ? ProcessBuilder.Redirect.appendTo(file.toFile())
        : ProcessBuilder.Redirect.DISCARD;
  }

  /**
   * For a writer in this process; what is beyond {@code most} bytes, finds no room or comes after
   * its close is dropped.
   */
  OutputStream stream(long most) {
    return new OutputStream() {
      private long written;
      private boolean closed;

      @Override
      public synchronized void close() {
        closed = true;
      }

      @Override
      public void write(int one) {
        write(new byte[] {(byte) one}, 0, 1);
      }

      @Override
      public synchronized void write(byte[] bytes, int offset, int length) {
        if (closed) {
          return;
        }
        int fitting = (int) Math.min(length, most - written);
        if (fitting < length) {
          lost("cut at " + most + " bytes");
        }
        if (fitting > 0) {
          written += fitting;
          append(ByteBuffer.wrap(bytes, offset, fitting));
        }
      }
    };
  }

  private void append(ByteBuffer bytes) {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.WRITE, StandardOpenOption.APPEND)) {
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
    } catch (IOException e) {
      lost("could not be written: " + e);
    }
  }

  /** Adds a word of the runner's own at the end. */
  void say(String words) {
    append(ByteBuffer.wrap((words.stripTrailing() + "\n").getBytes(StandardCharsets.UTF_8)));
  }

  long size() {
    try {
      return Files.size(file);
    } catch (IOException e) {
      return 0;
    }
  }

  /**
   * Cuts what is beyond {@code most} bytes, so that an endless output fills no disk. Programs
   * append, so they write on at the new end.
   *
   * @param slack whether a little more may stay for now
   */
  void cut(long most, boolean slack) {
    if (size() > most + (slack ? SLACK_BYTES : 0)) {
      lost("cut at " + most + " bytes");
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
        channel.truncate(most);
      } catch (IOException e) {
        LOG.warn("{} cannot be cut: {}", file, e.toString());
      }
    }
  }

  /** All of it as text; only for what is short. */
  String text() throws IOException {
    return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
  }

  /** Stores what is new of the first {@code most} bytes, the last chunk as long as it is. */
  synchronized void upload(BlobStore blobs, long most) throws IOException {
    long end = Math.min(size(), most);
    if (uploadedBytes < end) {
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
        while (uploadedBytes < end) {
          put(blobs, channel, uploadedBytes / OutputFile.CHUNK_BYTES, end);
        }
      }
    }
  }

  private void put(BlobStore blobs, FileChannel channel, long number, long end) throws IOException {
    long from = number * OutputFile.CHUNK_BYTES;
    ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(OutputFile.CHUNK_BYTES, end - from));
    while (bytes.hasRemaining()) {
      if (channel.read(bytes, from + bytes.position()) < 0) {
        throw new IOException(file + " is shorter than it was");
      }
    }
    blobs.put(prefix + number, new ByteArrayInputStream(bytes.array()));
    uploadedBytes = from + bytes.array().length;
  }

  /** Makes what is stored the first {@code most} bytes and nothing more. */
  synchronized void settle(BlobStore blobs, long most) throws IOException {
    if (uploadedBytes > most) {
      long kept = most / OutputFile.CHUNK_BYTES;
      forget(blobs, kept);
      uploadedBytes = kept * OutputFile.CHUNK_BYTES;
    }
    upload(blobs, most);
  }

  /** Removes the chunks from this number on. */
  private void forget(BlobStore blobs, long from) {
    for (long i = from; i * OutputFile.CHUNK_BYTES < uploadedBytes; i++) {
      blobs.delete(prefix + i);
    }
  }

  /** Removes all chunks, because no report names them. */
  synchronized void forget(Supplier<BlobStore> blobs) {
    if (uploadedBytes == 0) {
      return;
    }
    try {
      forget(blobs.get(), 0);
      uploadedBytes = 0;
    } catch (RuntimeException e) {
      LOG.debug("chunks of {} stay", prefix, e);
    }
  }
}
