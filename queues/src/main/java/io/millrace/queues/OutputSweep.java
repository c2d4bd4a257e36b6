package io.millrace.queues;

import io.millrace.blobs.Blob;
import io.millrace.blobs.BlobStore;
import io.millrace.store.Document;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Deletes output that nothing names: of runs whose task was queued again, and what a late runner
 * stored after its task had ended. Output of archived tasks is named by their file documents.
 */
final class OutputSweep {
  private static final Pattern CHUNK =
      Pattern.compile("(queue-task-([0-9a-f]{24})-(\\d+)-(?:stdout|stderr)-)\\d+");

  private final QueueSession session;
  private final BlobStore blobs;

  OutputSweep(QueueSession session, BlobStore blobs) {
    this.session = session;
    this.blobs = blobs;
  }

  void step() {
    Map<String, List<String>> chunks = new HashMap<>();
    try (Stream<Blob> all = blobs.list("queue-task-")) {
      all.forEach(blob -> {
        Matcher chunk = CHUNK.matcher(blob.name());
        if (chunk.matches()) {
          chunks.computeIfAbsent(chunk.group(1), _ -> new ArrayList<>()).add(blob.name());
        }
      });
    }
    // In this order: a run that ends after the first look is seen to be under way, and one that
    // ended before has left its file documents.
    chunks.keySet().removeIf(this::isUnderWay);
    if (!chunks.isEmpty()) {
      for (Document file : session.all(Keys.FILES)) {
        chunks.remove(OutputFileForm.read(file).chunkPrefix());
      }
    }
    chunks.values().forEach(names -> names.forEach(blobs::delete));
  }

  private boolean isUnderWay(String prefix) {
    Matcher chunk = CHUNK.matcher(prefix + "0");
    if (!chunk.matches()) {
      return true;
    }
    Optional<Run> run = session.document(Keys.run(new ObjectId(chunk.group(2)))).map(RunForm::read);
    long token = Long.parseLong(chunk.group(3));
    return run.filter(now -> now.claim().token() == token).isPresent();
  }
}
