package io.millrace.queues.runner;

import io.millrace.blobs.BlobStore;
import io.millrace.blobs.Tail;
import io.millrace.processes.PrivateFiles;
import io.millrace.queues.Output.OutputFile;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One output of a task: a local file to which it is written, and its copy in the blob store, which
 * follows in chunks. Failures here do not fail the task; they become its {@link #loss}. {@link
 * #cut} and {@link #loss} may be called while another thread uploads.
 */
final class Capture implements Tail {
  private static final Logger LOG = LoggerFactory.getLogger(Capture.class);

  /** How much more than the limit may be there for a moment. */
  private static final long SLACK_BYTES = 1 << 20;

  private final String name;
  private final Path file;
  private final String prefix;
  private volatile @Nullable String loss;
  private long uploadedBytes;

  /**
   * Captures output {@code name} in a new file, or in an empty one that served an earlier task; the
   * names of the chunks begin with {@code prefix}.
   */
  Capture(String name, Path file, String prefix) {
    this.name = name;
    this.file = file;
    this.prefix = prefix;
    try {
      if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) || size() > 0) {
        PrivateFiles.createFile(file);
      }
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

  /** What was lost and why; null if nothing was lost. */
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
   * A stream for a writer in this process. What is beyond {@code most} bytes, finds no room or
   * comes after its close is dropped.
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

  /** Adds a message of the runner at the end. */
  void say(String words) {
    append(ByteBuffer.wrap((words.stripTrailing() + "\n").getBytes(StandardCharsets.UTF_8)));
  }

  /** Puts a file in its place, with which it begins anew. */
  synchronized void replaceBy(Path other, Supplier<BlobStore> blobs) {
    forget(blobs);
    uploadedBytes = 0;
    loss = null;
    try {
      Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      lost("could not be replaced: " + e);
    }
  }

  @Override
  public long size() {
    try {
      return Files.size(file);
    } catch (IOException e) {
      return 0;
    }
  }

  @Override
  public byte[] read(long offset, int most) {
    ByteBuffer bytes = ByteBuffer.allocate(Math.clamp(size() - offset, 0, most));
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      while (bytes.hasRemaining() && channel.read(bytes, offset + bytes.position()) >= 0) {}
    } catch (IOException e) {
      LOG.debug("{} cannot be read", file, e);
    }
    return Arrays.copyOf(bytes.array(), bytes.position());
  }

  /**
   * Cuts off what is beyond {@code most} bytes, so that an endless output does not fill the disk.
   * Programs append, so they continue at the new end.
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

  /** All of it as text; for short outputs only. */
  String text() throws IOException {
    return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
  }

  /**
   * Stores the new part of the first {@code most} bytes, the last chunk with its present length.
   */
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

  /** Makes the stored chunks exactly the first {@code most} bytes. */
  synchronized void settle(BlobStore blobs, long most) throws IOException {
    if (uploadedBytes > most) {
      long kept = most / OutputFile.CHUNK_BYTES;
      forget(blobs, kept);
      uploadedBytes = kept * OutputFile.CHUNK_BYTES;
    }
    upload(blobs, most);
  }

  /** Deletes the chunks from this number on. */
  private void forget(BlobStore blobs, long from) {
    for (long i = from; i * OutputFile.CHUNK_BYTES < uploadedBytes; i++) {
      blobs.delete(prefix + i);
    }
  }

  /** Deletes all chunks, because no report refers to them. */
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
