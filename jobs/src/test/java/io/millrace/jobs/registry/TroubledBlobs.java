package io.millrace.jobs.registry;

import io.millrace.blobs.Blob;
import io.millrace.blobs.BlobException;
import io.millrace.blobs.BlobReceipt;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.BlobStream;
import io.millrace.blobs.FileBlobStore;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Blobs of which some cannot be read or linked, as a test wishes. Safe for use by threads. */
public final class TroubledBlobs implements BlobStore {
  private final BlobStore blobs;

  /** Whether links are made; otherwise blobs have to be copied. */
  public volatile boolean links = true;

  /** Which blobs cannot be read. */
  public volatile Predicate<String> broken = _ -> false;

  /** In {@code folder}, without trouble yet. */
  public TroubledBlobs(Path folder) {
    blobs = FileBlobStore.open(folder);
  }

  private void check(String name) {
    if (broken.test(name)) {
      throw new BlobException("blob " + name + " has a bad sector");
    }
  }

  @Override
  public BlobReceipt put(String name, InputStream content) {
    return blobs.put(name, content);
  }

  @Override
  public boolean link(String from, String to) {
    check(from);
    return links && blobs.link(from, to);
  }

  @Override
  public BlobStream open(String name, long offset) {
    check(name);
    return blobs.open(name, offset);
  }

  @Override
  public OptionalLong size(String name) {
    return blobs.size(name);
  }

  @Override
  public boolean delete(String name) {
    return blobs.delete(name);
  }

  @Override
  public Stream<Blob> list(String prefix) {
    return blobs.list(prefix);
  }
}
