package io.millrace.blobs;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A stream as the body of a request. Not {@link BodyPublishers#ofInputStream}, which would take a
 * stream that fails for one that ends, and so send half a blob as a whole one.
 */
final class UploadBody implements Iterator<byte[]> {
  private static final int CHUNK_SIZE = 64 * 1024;

  private final InputStream source;
  private byte @Nullable [] next;
  private boolean ended;

  private UploadBody(InputStream source) {
    this.source = source;
  }

  /** The body; it can be sent once, since a stream cannot be read again. */
  static BodyPublisher of(InputStream source) {
    AtomicBoolean sent = new AtomicBoolean();
    return BodyPublishers.ofByteArrays(() -> {
      if (sent.getAndSet(true)) {
        throw new UncheckedIOException(new IOException("the content cannot be sent twice"));
      }
      return new UploadBody(source);
    });
  }

  @Override
  public boolean hasNext() {
    if (next == null && !ended) {
      try {
        byte[] chunk = source.readNBytes(CHUNK_SIZE);
        ended = chunk.length == 0;
        next = ended ? null : chunk;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return next != null;
  }

  @Override
  public byte[] next() {
    if (!hasNext() || next == null) {
      throw new NoSuchElementException();
    }
    byte[] chunk = next;
    next = null;
    return chunk;
  }
}
