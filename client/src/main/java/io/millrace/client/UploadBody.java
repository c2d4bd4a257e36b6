package io.millrace.client;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import org.apache.hc.core5.http.io.entity.AbstractHttpEntity;
import org.jspecify.annotations.Nullable;

/**
 * A body that is read while it is sent. It knows how far it came, and tells a failure of its source
 * from one of the connection. The source stays open.
 */
final class UploadBody extends AbstractHttpEntity {
  private static final int BUFFER_BYTES = 64 << 10;

  private final InputStream source;
  private final long length;
  private Runnable cut = () -> {};
  private long taken;
  private boolean ended;
  private @Nullable IOException failure;

  /**
   * What the source holds.
   *
   * @param length how many bytes that must be; -1 if it is not known
   */
  UploadBody(@Nullable String contentType, InputStream source, long length) {
    super(contentType, null, length < 0);
    this.source = source;
    this.length = length;
  }

  /** What to do if the source fails, since the body must not look as if it had ended. */
  void onFailure(Runnable cutConnection) {
    cut = cutConnection;
  }

  @Override
  public void writeTo(OutputStream out) throws IOException {
    byte[] buffer = new byte[BUFFER_BYTES];
    for (int count = read(buffer); count >= 0; count = read(buffer)) {
      taken += count;
      ended = taken == length;
      out.write(buffer, 0, count);
    }
    ended = true;
  }

  private int read(byte[] buffer) throws IOException {
    try {
      int count = source.read(buffer);
      if (count < 0 && taken < length) {
        throw new EOFException("it ended after " + taken + " of " + length + " bytes");
      }
      return count;
    } catch (IOException e) {
      failure = e;
      cut.run();
      throw e;
    } catch (RuntimeException | Error e) {
      cut.run();
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

  @Override
  public long getContentLength() {
    return length;
  }

  @Override
  public boolean isStreaming() {
    return true;
  }

  @Override
  public InputStream getContent() {
    throw new UnsupportedOperationException("this body is written");
  }

  @Override
  public void close() {}
}
