package io.millrace.client.jobs;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The result of a job. If it is not in memory, it can have any length. */
public final class JobResult {
  private static final Logger LOG = LoggerFactory.getLogger(JobResult.class);
  private static final int BUFFER_BYTES = 64 << 10;

  private final IoSupplier<Content> source;

  private JobResult(IoSupplier<Content> source) {
    this.source = source;
  }

  /** Supplies a value, or fails with an {@link IOException}. */
  @FunctionalInterface
  private interface IoSupplier<T> {
    T get() throws IOException;
  }

  /** The bytes of a result that is ready to be sent. For one thread. */
  public static final class Content {
    private final IoSupplier<InputStream> bytes;
    private final Runnable discard;

    private Content(IoSupplier<InputStream> bytes, Runnable discard) {
      this.bytes = bytes;
      this.discard = discard;
    }

    /**
     * Opens the bytes, once.
     *
     * @throws IOException if they cannot be read
     */
    public InputStream open() throws IOException {
      return bytes.get();
    }

    /** Releases the bytes after they were sent, or if they will not be sent. */
    public void discard() {
      discard.run();
    }
  }

  /**
   * Prepares the result for sending. The caller discards the content afterwards.
   *
   * @throws IOException if it cannot be read; the job has failed then
   */
  public Content prepare() throws IOException {
    return source.get();
  }

  /** A result of these bytes, which are not copied. */
  public static JobResult of(byte[] bytes) {
    return new JobResult(() -> new Content(() -> new ByteArrayInputStream(bytes), () -> {}));
  }

  /** A result of this text in UTF-8. */
  public static JobResult of(String text) {
    return of(text.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * The content of a stream. It is read completely and closed before anything is sent; long content
   * is kept in a temporary file. If the stream cannot be read, the job fails.
   */
  public static JobResult of(InputStream stream) {
    return new JobResult(() -> spooled(stream));
  }

  private static Content spooled(InputStream stream) throws IOException {
    Spool spool = new Spool();
    try (stream) {
      byte[] buffer = new byte[BUFFER_BYTES];
      for (int count = stream.read(buffer); count >= 0; count = stream.read(buffer)) {
        spool.write(ByteBuffer.wrap(buffer, 0, count));
      }
      spool.complete();
    } catch (IOException | RuntimeException e) {
      spool.close();
      throw e;
    }
    return new Content(spool::input, spool::close);
  }

  /** The content of a file, which must not change. It is not deleted. */
  public static JobResult file(Path file) {
    return of(file, () -> {});
  }

  /** The content of a file. The file is deleted after it was sent, or if it will not be sent. */
  public static JobResult temporary(Path file) {
    return of(
        file,
        () -> {
          boolean _ = file.toFile().delete();
        });
  }

  private static JobResult of(Path file, Runnable discard) {
    return new JobResult(() -> {
      // If the file cannot be read, the job fails.
      Files.newInputStream(file).close();
      return new Content(() -> Files.newInputStream(file), discard);
    });
  }

  /**
   * The content of an open file from its beginning, which must not change. The file is closed after
   * it was sent, or if it will not be sent.
   */
  public static JobResult of(FileChannel file) {
    Runnable close =
        () -> {
          try {
            file.close();
          } catch (IOException e) {
            LOG.debug("cannot close the file of a result", e);
          }
        };
    return new JobResult(() -> new Content(() -> Channels.newInputStream(file.position(0)), close));
  }
}
