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

/** What a handler gives back. Results that are not in memory may be of any length. */
public abstract class JobResult {
  private static final Logger LOG = LoggerFactory.getLogger(JobResult.class);
  private static final int BUFFER_BYTES = 64 << 10;

  private JobResult() {}

  /** These bytes, not copied. */
  public static JobResult of(byte[] bytes) {
    return new Ready() {
      @Override
      InputStream open() {
        return new ByteArrayInputStream(bytes);
      }
    };
  }

  /** This text in UTF-8. */
  public static JobResult of(String text) {
    return of(text.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * All that a stream gives. It is read to its end before anything is sent, into a temporary file
   * where it is long, so that failing to read it is a failure of the job; then it is closed.
   */
  public static JobResult of(InputStream stream) {
    return new JobResult() {
      @Override
      Ready ready() throws IOException {
        return spooled(stream);
      }
    };
  }

  /** The bytes of a file, which must stay as it is; it remains the handler's to delete. */
  public static JobResult file(Path file) {
    return new OfFile(file, false);
  }

  /** The bytes of a file that is deleted once they are sent, or are not wanted any more. */
  public static JobResult temporary(Path file) {
    return new OfFile(file, true);
  }

  /**
   * The bytes of an open file from its beginning, which must stay as it is. It is closed once they
   * are sent, or are not wanted any more.
   */
  public static JobResult of(FileChannel file) {
    return new OfChannel(file);
  }

  /** The same as something that can be sent at once. */
  abstract Ready ready() throws IOException;

  /** Nobody wants it. */
  void discard() {}

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
    return new Ready() {
      @Override
      InputStream open() {
        return spool.input();
      }

      @Override
      void discard() {
        spool.close();
      }
    };
  }

  /** Bytes that are there. */
  abstract static class Ready extends JobResult {
    @Override
    Ready ready() throws IOException {
      return this;
    }

    /** The bytes, once. */
    abstract InputStream open() throws IOException;
  }

  private static final class OfChannel extends Ready {
    private final FileChannel file;

    OfChannel(FileChannel file) {
      this.file = file;
    }

    @Override
    InputStream open() throws IOException {
      return Channels.newInputStream(file.position(0));
    }

    @Override
    void discard() {
      try {
        file.close();
      } catch (IOException e) {
        LOG.debug("a result that is not wanted any more cannot be closed", e);
      }
    }
  }

  private static final class OfFile extends Ready {
    private final Path file;
    private final boolean temporary;

    OfFile(Path file, boolean temporary) {
      this.file = file;
      this.temporary = temporary;
    }

    @Override
    Ready ready() throws IOException {
      // Asked for here, so that a file that cannot be read is a failure of the job.
      Files.newInputStream(file).close();
      return this;
    }

    @Override
    InputStream open() throws IOException {
      return Files.newInputStream(file);
    }

    @Override
    void discard() {
      if (temporary) {
        boolean _ = file.toFile().delete();
      }
    }
  }
}
