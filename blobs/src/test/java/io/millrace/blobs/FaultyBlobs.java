package io.millrace.blobs;

import java.io.InputStream;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** A blob store that refuses what a test wants it to refuse. Safe for use by threads. */
public final class FaultyBlobs implements BlobStore {
  private final BlobStore real;
  private final CountDownLatch first = new CountDownLatch(1);

  /** Whether nothing can be stored. */
  public volatile boolean refuses;

  /** Whether links are made; otherwise blobs have to be copied. */
  public volatile boolean links = true;

  /** Which blobs cannot be read. */
  public volatile Predicate<String> broken = _ -> false;

  /** In front of a real store, without faults yet. */
  public FaultyBlobs(BlobStore real) {
    this.real = real;
  }

  /** Waits until something is stored. */
  public void awaitFirst() throws InterruptedException {
    first.await();
  }

  private void checkReadable(String name) {
    if (broken.test(name)) {
      throw new BlobException("blob " + name + " has a bad sector");
    }
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
  public boolean link(String from, String to) {
    checkReadable(from);
    return links && real.link(from, to);
  }

  @Override
  public BlobStream open(String name, long offset) {
    checkReadable(name);
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
