package io.millrace.client;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/**
 * A body that is read while it is sent. It knows how far it came, and tells a failure of its source
 * from one of the connection. The source stays open.
 */
final class UploadBody {
  private final @Nullable String contentType;
  private final InputStream source;
  private final long length;
  private long taken;
  private boolean ended;
  private @Nullable IOException failure;

  /**
   * What the source holds.
   *
   * @param length how many bytes that must be; -1 if it is not known
   */
  UploadBody(@Nullable String contentType, InputStream source, long length) {
    this.contentType = contentType;
    this.source = source;
    this.length = length;
  }

  /** Its media type; null if it is not said. */
  @Nullable String contentType() {
    return contentType;
  }

  /** How many bytes it has; -1 if that is not known. */
  long length() {
    return length;
  }

  /**
   * Reads what comes next.
   *
   * @return how many bytes; -1 at the end
   * @throws IOException if the source fails or ends early
   */
  int read(byte[] target) throws IOException {
    if (taken == length) {
      ended = true;
      return -1;
    }
    int most = length < 0 ? target.length : (int) Math.min(target.length, length - taken);
    try {
      int count = source.read(target, 0, most);
      if (count < 0 && taken < length) {
        throw new EOFException("it ended after " + taken + " of " + length + " bytes");
      }
      taken += Math.max(count, 0);
      ended = count < 0 || taken == length;
      return count;
    } catch (IOException e) {
      failure = e;
      throw e;
    }
  }

  /** How many bytes were read. */
  long taken() {
    return taken;
  }

  /** Whether everything was read. */
  boolean hasEnded() {
    return ended;
  }

  /** What the source threw; null if it did not fail. */
  @Nullable IOException failure() {
    return failure;
  }
}
