package io.millrace.client;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/**
 * A request body that is read while it is sent. It counts the bytes, and distinguishes failures of
 * its source from those of the connection. Up to {@link #KEPT_BYTES} are kept, so that a short body
 * can be sent again to another server. It does not close the source.
 */
final class UploadBody {
  /** The longest body that can be read again. */
  static final int KEPT_BYTES = 64 << 10;

  private final @Nullable String contentType;
  private final InputStream source;
  private final long length;
  private final ByteArrayOutputStream kept = new ByteArrayOutputStream();

  /** What is read again, before the source; null if nothing is. */
  private @Nullable InputStream again;

  private long bytesRead;
  private boolean ended;
  private @Nullable IOException failure;

  /**
   * A body that is read from {@code source}.
   *
   * @param length the number of bytes that the source must have; -1 if unknown
   */
  UploadBody(@Nullable String contentType, InputStream source, long length) {
    this.contentType = contentType;
    this.source = source;
    this.length = length;
  }

  /** The media type; null if unknown. */
  @Nullable String contentType() {
    return contentType;
  }

  /** The length in bytes; -1 if unknown. */
  long length() {
    return length;
  }

  /**
   * Reads the next bytes.
   *
   * @return the number of bytes; -1 at the end
   * @throws IOException if the source fails or ends early
   */
  int read(byte[] target) throws IOException {
    if (bytesRead == length) {
      ended = true;
      return -1;
    }
    int max = length < 0 ? target.length : (int) Math.min(target.length, length - bytesRead);
    try {
      int count = next(target, max);
      if (count < 0 && bytesRead < length) {
        throw new EOFException("it ended after " + bytesRead + " of " + length + " bytes");
      }
      bytesRead += Math.max(count, 0);
      ended = count < 0 || bytesRead == length;
      return count;
    } catch (IOException e) {
      failure = e;
      throw e;
    }
  }

  private int next(byte[] target, int max) throws IOException {
    InputStream repeated = again;
    if (repeated != null) {
      int count = repeated.read(target, 0, max);
      if (count > 0) {
        return count;
      }
      again = null;
    }
    int count = source.read(target, 0, max);
    if (count > 0 && bytesRead == kept.size()) {
      kept.write(target, 0, (int) Math.min(count, KEPT_BYTES + 1L - kept.size()));
    }
    return count;
  }

  /** Whether it is known to be short enough to be sent again, before anything is read. */
  boolean isShort() {
    return length >= 0 && length <= KEPT_BYTES;
  }

  /** Begins it again. Returns false, and changes nothing, if more was read than is kept. */
  boolean rewind() {
    if (bytesRead > KEPT_BYTES || failure != null) {
      return false;
    }
    again = new ByteArrayInputStream(kept.toByteArray());
    bytesRead = 0;
    ended = false;
    return true;
  }

  /** The number of bytes read. */
  long bytesRead() {
    return bytesRead;
  }

  /** Whether everything was read. */
  boolean hasEnded() {
    return ended;
  }

  /** The failure of the source; null if there was none. */
  @Nullable IOException failure() {
    return failure;
  }
}
