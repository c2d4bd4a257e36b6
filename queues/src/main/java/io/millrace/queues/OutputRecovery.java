package io.millrace.queues;

import io.millrace.blobs.BlobException;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.ChunkedBlob;
import io.millrace.queues.Output.OutputFile;
import io.millrace.queues.OutputReader.Stream;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.Run.Report;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds what a runner had stored of its task's output before it was lost. Safe for use by any
 * number of threads.
 */
public interface OutputRecovery {
  /** Looks for nothing. */
  OutputRecovery NOTHING =
      (_, reason) -> new Report(Status.ORPHANED, TaskOutput.NONE, List.of(), reason);

  /** For runs of {@code queues}, whose output is stored in {@code blobs}. */
  static OutputRecovery from(BlobStore blobs, Queues queues) {
    return new ChunkRecovery(blobs, queues::newId);
  }

  /**
   * The report on a run that was disrupted, with the output that was stored. If the output cannot
   * be looked up, the report has none: the end of a task never waits for its output.
   *
   * @param run as it is on record, with the claim that it was lost with
   */
  Report report(Run run, String reason);

  /** Finds the chunks of output that there are of a run. */
  final class ChunkRecovery implements OutputRecovery {
    private static final Logger LOG = LoggerFactory.getLogger(ChunkRecovery.class);

    private final BlobStore blobs;
    private final Supplier<ObjectId> ids;

    ChunkRecovery(BlobStore blobs, Supplier<ObjectId> ids) {
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
        // If the server is away, the end is not stored either, and this is repeated.
        LOG.warn("the output of task {} cannot be looked for: {}", run.task(), e.toString());
        return NOTHING.report(run, reason);
      }
    }

    private Output output(Run run, Stream stream, List<OutputFile> files) {
      ChunkedBlob stored = OutputFile.content(blobs, run, stream);
      long bytes = stored.size();
      if (bytes == 0) {
        return Output.none();
      }
      OutputFile file =
          new OutputFile(ids.get(), run.task(), stream.word(), bytes, stored.prefix());
      files.add(file);
      return new Output.Stored(file.id(), bytes, true);
    }
  }
}
