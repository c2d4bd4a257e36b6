package io.millrace.blobs.s3;

import io.millrace.s3.S3Address;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * The bytes of an object from some offset on. If their connection breaks, they are requested again
 * from where it broke. For one thread at a time.
 */
final class ObjectStream extends InputStream {
  private static final Logger LOG = LoggerFactory.getLogger(ObjectStream.class);

  /** How often in a row the rest is requested without a byte of it arriving. */
  private static final int MOST_ATTEMPTS = 5;

  private static final int FAILED_CONDITION = 412;
  private static final int NOT_FOUND = 404;

  /** Requests the same object from a position; null if it has nothing there. */
  interface Source {
    @Nullable ResponseInputStream<GetObjectResponse> from(long position);
  }

  private final String name;
  private final long size;
  private final Source source;
  private ResponseInputStream<GetObjectResponse> bytes;
  private long position;
  private int attempts;

  /**
   * A stream that has begun.
   *
   * @param size of the whole object
   * @param bytes from {@code position} on
   */
  ObjectStream(
      String name,
      long position,
      long size,
      ResponseInputStream<GetObjectResponse> bytes,
      Source source) {
    this.name = name;
    this.position = position;
    this.size = size;
    this.bytes = bytes;
    this.source = source;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, target.length);
    if (length == 0) {
      return 0;
    }
    while (position < size) {
      try {
        int count = bytes.read(target, offset, (int) Math.min(length, size - position));
        if (count < 0) {
          throw new EOFException("the connection ended early");
        }
        position += count;
        attempts = 0;
        return count;
      } catch (IOException e) {
        resume(e);
      } catch (SdkException e) {
        resume(S3Address.failure(e));
      }
    }
    return -1;
  }

  private void resume(IOException cause) throws IOException {
    bytes.abort();
    attempts++;
    if (attempts > MOST_ATTEMPTS || Thread.currentThread().isInterrupted()) {
      throw failure("cannot be read", cause);
    }
    LOG.debug("blob {} is continued at byte {}", name, position, cause);
    try {
      ResponseInputStream<GetObjectResponse> rest = source.from(position);
      if (rest == null) {
        throw failure("has become shorter while it was read", cause);
      }
      bytes = rest;
    } catch (S3Exception e) {
      if (e.statusCode() == FAILED_CONDITION || e.statusCode() == NOT_FOUND) {
        throw failure("was replaced or deleted while it was read, and its connection broke", cause);
      }
      throw failure("cannot be read", S3Address.failure(e));
    } catch (SdkException e) {
      throw failure("cannot be read", S3Address.failure(e));
    }
  }

  private IOException failure(String what, IOException cause) {
    return new IOException(
        "blob %s %s, at byte %d of %d: %s"
            .formatted(name, what, position, size, cause.getMessage()),
        cause);
  }

  @Override
  public void close() throws IOException {
    if (position < size) {
      // Closing would read the rest.
      bytes.abort();
    } else {
      bytes.close();
    }
  }
}
