package io.millrace.queues;

import io.millrace.blobs.BlobStore;
import io.millrace.blobs.BlobStream;
import io.millrace.blobs.NoSuchBlobException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** Reads what tasks write, while they run too. Safe for use by any number of threads. */
public final class OutputReader {
  private final Queues queues;
  private final BlobStore blobs;

  /** Of the tasks of {@code queues}, whose files lie in {@code blobs}. */
  public OutputReader(Queues queues, BlobStore blobs) {
    this.queues = queues;
    this.blobs = blobs;
  }

  /** The streams of a task. */
  public enum Stream {
    /** What it wrote. */
    STDOUT("stdout"),
    /** What it complained about. */
    STDERR("stderr"),
    /** Both in order of arrival, if the task asked for that. */
    MIXED("mixedout");

    private final String word;

    Stream(String word) {
      this.word = word;
    }

    /** What it is called in documents, addresses and names of chunks. */
    public String word() {
      return word;
    }

    Output of(TaskOutput output) {
      return switch (this) {
        case STDOUT -> output.stdout();
        case STDERR -> output.stderr();
        case MIXED -> output.mixed();
      };
    }
  }

  /**
   * All of a file as text; bytes that are no UTF-8 are replaced.
   *
   * @return empty if it is not there any more
   */
  public Optional<String> text(Output.Stored output) {
    return queues
        .file(output.file())
        .map(file -> {
          try {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream((int) file.sizeBytes());
            copyChunks(file.chunkPrefix(), 0, bytes);
            return bytes.toString(StandardCharsets.UTF_8);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }

  /**
   * Reads a file as text from its begin to its end, without holding it in memory; bytes that are no
   * UTF-8 are replaced. To be closed by the caller.
   *
   * @return empty if it is not there any more
   */
  public Optional<Reader> open(Output.Stored output) {
    return queues
        .file(output.file())
        .map(file -> new InputStreamReader(new Chunks(file.chunkPrefix()), StandardCharsets.UTF_8));
  }

  /** The chunks of a file, one after the other; it ends if there is no other. */
  private final class Chunks extends InputStream {
    private final String prefix;
    private long next;
    private InputStream chunk = InputStream.nullInputStream();

    Chunks(String prefix) {
      this.prefix = prefix;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      int read = chunk.read(bytes, offset, length);
      while (read < 0) {
        chunk.close();
        try {
          chunk = blobs.open(prefix + next, 0);
        } catch (NoSuchBlobException _) {
          return -1;
        }
        next++;
        read = chunk.read(bytes, offset, length);
      }
      return read;
    }

    @Override
    public void close() throws IOException {
      chunk.close();
    }
  }

  /**
   * Copies what is there of a stream.
   *
   * @param task the task as it was read last
   * @param offset the first byte wanted, from 0
   * @return the number of bytes copied
   * @throws IOException when {@code target} cannot be written
   */
  public long copy(QueueTask task, Stream stream, long offset, OutputStream target)
      throws IOException {
    return switch (stream.of(task.output())) {
      case Output.Text(String text) -> {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int from = (int) Math.min(offset, bytes.length);
        target.write(bytes, from, bytes.length - from);
        yield bytes.length - from;
      }
      case Output.Stored stored -> {
        Optional<OutputFile> file = queues.file(stored.file());
        yield file.isPresent() ? copyChunks(file.get().chunkPrefix(), offset, target) : 0;
      }
      case Output.None() -> {
        Optional<Run> run = queues.runs().find(task.id());
        yield run.isPresent()
            ? copyChunks(
                OutputFile.prefix(task.id(), run.get().claim().token(), stream.word()),
                offset,
                target)
            : 0;
      }
    };
  }

  private long copyChunks(String prefix, long offset, OutputStream target) throws IOException {
    long at = offset;
    while (true) {
      try (BlobStream chunk =
          blobs.open(prefix + at / OutputFile.CHUNK_BYTES, at % OutputFile.CHUNK_BYTES)) {
        long copied = chunk.transferTo(target);
        at += copied;
        if (copied == 0 || at % OutputFile.CHUNK_BYTES != 0) {
          return at - offset;
        }
      } catch (NoSuchBlobException _) {
        return at - offset;
      }
    }
  }
}
