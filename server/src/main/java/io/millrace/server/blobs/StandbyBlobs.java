package io.millrace.server.blobs;

import io.millrace.blobs.Blob;
import io.millrace.blobs.BlobException;
import io.millrace.blobs.BlobReceipt;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.BlobStream;
import io.millrace.blobs.NoSuchBlobException;
import io.millrace.store.StandbyStore.LeaderNeededException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The blobs as a standby reads them, opened when the first is wanted. What it cannot read throws
 * {@link LeaderNeededException}: everything if the blobs are in the leader's own folder, and a blob
 * that is not there, since it may have been deleted after the position that the standby has.
 * Thread-safe.
 */
public final class StandbyBlobs implements BlobStore {
  private final @Nullable Supplier<BlobStore> opener;
  private @Nullable BlobStore opened;

  /**
   * The blobs of these settings.
   *
   * @param store the folder of the store
   */
  public StandbyBlobs(BlobSettings settings, Path store) {
    boolean shared = settings.place() != null || settings.data() != null;
    this.opener = shared ? () -> settings.open(store, 0) : null;
  }

  private synchronized BlobStore blobs() {
    if (opener == null) {
      throw new LeaderNeededException("the blobs are in a folder of the leader");
    }
    if (opened == null) {
      opened = opener.get();
    }
    return opened;
  }

  private static UnsupportedOperationException refused() {
    return new UnsupportedOperationException("a standby changes nothing");
  }

  @Override
  public BlobStream open(String name, long offset) {
    try {
      return blobs().open(name, offset);
    } catch (NoSuchBlobException _) {
      throw new LeaderNeededException("blob " + name + " is not there any more");
    } catch (BlobException e) {
      throw new LeaderNeededException("blob " + name + " cannot be read here: " + e.getMessage());
    }
  }

  @Override
  public Optional<URI> publicLink(String name) {
    return blobs().publicLink(name);
  }

  @Override
  public OptionalLong size(String name) {
    OptionalLong size = blobs().size(name);
    if (size.isEmpty()) {
      throw new LeaderNeededException("blob " + name + " is not there any more");
    }
    return size;
  }

  @Override
  public BlobReceipt put(String name, InputStream content) {
    throw refused();
  }

  @Override
  public boolean delete(String name) {
    throw refused();
  }

  @Override
  public Stream<Blob> list(String prefix) {
    throw refused();
  }

  @Override
  public synchronized void close() {
    if (opened != null) {
      opened.close();
      opened = null;
    }
  }
}
