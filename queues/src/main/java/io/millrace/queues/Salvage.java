package io.millrace.queues;

import io.millrace.blobs.Blob;
import io.millrace.blobs.BlobStore;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Finds what a runner had stored of its task's output before it was lost. */
final class Salvage {
  private final BlobStore blobs;
  private final Ledger ledger;

  Salvage(BlobStore blobs, Ledger ledger) {
    this.blobs = blobs;
    this.ledger = ledger;
  }

  /** The report on a run that was disrupted, with the output that there is. */
  Report report(Run run, String reason) {
    List<OutputFile> files = new ArrayList<>();
    Output stdout = output(run, "stdout", files);
    Output stderr = output(run, "stderr", files);
    return new Report(Status.ORPHANED, new TaskOutput(stdout, stderr), files, reason);
  }

  private Output output(Run run, String name, List<OutputFile> files) {
    String prefix = OutputFile.prefix(run.task(), run.claim().token(), name);
    long bytes;
    try (Stream<Blob> chunks = blobs.list(prefix)) {
      bytes = chunks.mapToLong(Blob::size).sum();
    }
    if (bytes == 0) {
      return Output.none();
    }
    OutputFile file = new OutputFile(ledger.newId(), run.task(), name, bytes, prefix);
    files.add(file);
    return new Output.Stored(file.id(), bytes, true);
  }
}
