package io.millrace.queues.runner;

import io.millrace.blobs.Blob;
import io.millrace.blobs.BlobException;
import io.millrace.blobs.BlobReceipt;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.BlobStream;
import java.io.InputStream;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;

/** A blob store that can refuse what it is given. */
final class AwayBlobs implements BlobStore {
  private final BlobStore real;
  private final CountDownLatch first = new CountDownLatch(1);
  volatile boolean refuses;

  AwayBlobs(BlobStore real) {
    this.real = real;
  }

  /** Waits until something is stored. */
  void awaitFirst() throws InterruptedException {
    first.await();
  }

  @Override
  public BlobReceipt put(String name, InputStream content) {
    if (refuses) {
      throw new BlobException("blob " + name + " is refused");
    }
    BlobReceipt receipt = real.put(name, content);
    first.countDown();
    return receipt;
  }

  @Override
  public BlobStream open(String name, long offset) {
    return real.open(name, offset);
  }

  @Override
  public OptionalLong size(String name) {
    return real.size(name);
  }

  @Override
  public boolean delete(String name) {
    return real.delete(name);
  }

  @Override
  public Stream<Blob> list(String prefix) {
    return real.list(prefix);
  }
}
