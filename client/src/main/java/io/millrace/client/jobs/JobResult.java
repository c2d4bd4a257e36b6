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

/** The result of a job. A result that is not in memory can be of any length. */
public final class JobResult {
  private static final Logger LOG = LoggerFactory.getLogger(JobResult.class);
  private static final int BUFFER_BYTES = 64 << 10;

  private final Reading<Ready> source;

  private JobResult(Reading<Ready> source) {
    this.source = source;
  }

  /** Supplies a value that has to be read. */
  @FunctionalInterface
  private interface Reading<T> {
    T get() throws IOException;
  }

  /** Bytes that can be sent. */
  static final class Ready {
    private final Reading<InputStream> bytes;
    private final Runnable discard;

    private Ready(Reading<InputStream> bytes, Runnable discard) {
      this.bytes = bytes;
      this.discard = discard;
    }

    /** Opens the bytes; called once. */
    InputStream open() throws IOException {
      return bytes.get();
    }

    /** Releases the bytes after they were sent, or if they are not needed. */
    void discard() {
      discard.run();
    }
  }

  /** Prepares the result for sending; a failure to read it is a failure of the job. */
  Ready ready() throws IOException {
    return source.get();
  }

  /** A result of these bytes, which are not copied. */
  public static JobResult of(byte[] bytes) {
    return new JobResult(() -> new Ready(() -> new ByteArrayInputStream(bytes), () -> {}));
  }

  /** A result of this text in UTF-8. */
  public static JobResult of(String text) {
    return of(text.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * The content of a stream. It is read to its end and closed before anything is sent, into a
   * temporary file if it is long, so that a failure to read it is a failure of the job.
   */
  public static JobResult of(InputStream stream) {
    return new JobResult(() -> spooled(stream));
  }

  private static Ready spooled(InputStream stream) throws IOException {
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
    return new Ready(spool::input, spool::close);
  }

  /** The content of a file, which must not change. It is not deleted. */
  public static JobResult file(Path file) {
    return of(file, () -> {});
  }

  /** The content of a file, which is deleted after it was sent or if it is not needed. */
  public static JobResult temporary(Path file) {
    return of(
        file,
        () -> {
          boolean _ = file.toFile().delete();
        });
  }

  private static JobResult of(Path file, Runnable discard) {
    return new JobResult(() -> {
      // A file that cannot be read is a failure of the job.
      Files.newInputStream(file).close();
      return new Ready(() -> Files.newInputStream(file), discard);
    });
  }

  /**
   * The content of an open file from its beginning, which must not change. The file is closed after
   * it was sent or if it is not needed.
   */
  public static JobResult of(FileChannel file) {
    Runnable close =
        () -> {
          try {
            file.close();
          } catch (IOException e) {
            LOG.debug("a result that is not wanted any more cannot be closed", e);
          }
        };
    return new JobResult(() -> new Ready(() -> Channels.newInputStream(file.position(0)), close));
  }
}
