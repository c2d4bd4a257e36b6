package io.millrace.queues;

import io.millrace.blobs.BlobException;
import io.millrace.blobs.BlobStore;
import io.millrace.queues.OutputReader.Stream;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Finds the chunks of output that there are of a run. */
final class ChunkSalvage implements Salvage {
  private static final Logger LOG = LoggerFactory.getLogger(ChunkSalvage.class);

  private final BlobStore blobs;
  private final Supplier<ObjectId> ids;

  ChunkSalvage(BlobStore blobs, Supplier<ObjectId> ids) {
    this.blobs = blobs;
    this.ids = ids;
  }

  @Override
  public Report report(Run run, String reason) {
    try {
      List<OutputFile> files = new ArrayList<>();
      TaskOutput output =
          new TaskOutput(
              output(run, Stream.STDOUT, files),
              output(run, Stream.STDERR, files),
              output(run, Stream.MIXED, files));
      return new Report(Status.ORPHANED, output, files, reason);
    } catch (BlobException e) {
      // Where the server is away the end is not stored either, and this is done again.
      LOG.warn("the output of task {} cannot be looked for: {}", run.task(), e.toString());
      return NOTHING.report(run, reason);
    }
  }

  private Output output(Run run, Stream stream, List<OutputFile> files) {
    String prefix = OutputFile.prefix(run.task(), run.claim().token(), stream.word());
    long bytes = storedBytes(prefix);
    if (bytes == 0) {
      return Output.none();
    }
    OutputFile file = new OutputFile(ids.get(), run.task(), stream.word(), bytes, prefix);
    files.add(file);
    return new Output.Stored(file.id(), bytes, true);
  }

  /**
   * The bytes of the chunks from the first on. A store lists its names by looking at all of them,
   * so the last chunk is looked for instead.
   */
  private long storedBytes(String prefix) {
    if (!blobs.exists(prefix + 0)) {
      return 0;
    }
    long last = 0;
    long beyond = 1;
    while (blobs.exists(prefix + beyond)) {
      last = beyond;
      beyond *= 2;
    }
    while (beyond - last > 1) {
      long middle = (last + beyond) / 2;
      if (blobs.exists(prefix + middle)) {
        last = middle;
      } else {
        beyond = middle;
      }
    }
    OptionalLong rest = blobs.size(prefix + last);
    return last * OutputFile.CHUNK_BYTES + rest.orElse(0);
  }
}
