package io.millrace.jobs.worker;

import io.millrace.blobs.BlobStore;
import io.millrace.blobs.Value;
import io.millrace.jobs.Assignment;
import io.millrace.jobs.JobRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the results that workers send, before they are reported to the registry; each attempt has a
 * name of its own. Safe for use by any number of threads.
 */
final class ResultUpload {
  private final BlobStore blobs;

  ResultUpload(BlobStore blobs) {
    this.blobs = blobs;
  }

  /**
   * Reads a result to its end and keeps it.
   *
   * @param counts whether it still counts; called repeatedly while it is read
   * @return what was kept; empty if it stopped counting, so that nothing was kept
   * @throws IOException if it cannot be read
   */
  Optional<Value> keep(Assignment assignment, InputStream result, BooleanSupplier counts)
      throws IOException {
    Guarded guarded = new Guarded(result, counts);
    try {
      if (counts.getAsBoolean()) {
        return Optional.of(Value.keep(JobRegistry.resultName(assignment), guarded, blobs));
      }
    } catch (RuntimeException e) {
      IOException failure = guarded.failure;
      if (failure == null) {
        throw e;
      }
      if (!(failure instanceof TooLateException)) {
        throw failure;
      }
    }
    drop(result);
    return Optional.empty();
  }

  /** Reads a result to its end and keeps nothing. */
  static void drop(InputStream result) throws IOException {
    result.transferTo(OutputStream.nullOutputStream());
  }

  private static final class TooLateException extends IOException {}

  /** A stream that fails once its result no longer counts, and keeps the reason of its failure. */
  private static final class Guarded extends InputStream {
    private final InputStream source;
    private final BooleanSupplier counts;
    private @Nullable IOException failure;

    Guarded(InputStream source, BooleanSupplier counts) {
      this.source = source;
      this.counts = counts;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      int count = read(one, 0, 1);
      return count < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      try {
        int count = source.read(target, offset, length);
        if (!counts.getAsBoolean()) {
          throw new TooLateException();
        }
        return count;
      } catch (IOException e) {
        failure = e;
        throw e;
      }
    }
  }
}
