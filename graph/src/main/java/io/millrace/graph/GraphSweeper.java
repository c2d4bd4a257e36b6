package io.millrace.graph;

import io.millrace.blobs.Blob;
import io.millrace.store.Document;
import io.millrace.work.Step;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Deletes the blobs of graphs that no node names: of values that were replaced, of nodes that were
 * removed, and of changes that did not come about. For use by one thread.
 */
final class GraphSweeper implements Step {
  /** How often all blobs are looked at, and how old one of those is at least that goes. */
  static final Duration GRACE = Duration.ofHours(1);

  /** How often those are deleted that are known to be replaced. */
  static final Duration PAUSE = Duration.ofMinutes(1);

  private final GraphSession session;
  private final Contents contents;
  private Instant nextSweep = Instant.MIN;

  GraphSweeper(GraphSession session, Contents contents) {
    this.session = session;
    this.contents = contents;
  }

  @Override
  public Instant step(Instant now) {
    for (String name = contents.discarded(); name != null; name = contents.discarded()) {
      contents.blobs().delete(name);
    }
    if (!now.isBefore(nextSweep)) {
      sweep(now.minus(GRACE));
      nextSweep = now.plus(GRACE);
    }
    return now.plus(PAUSE);
  }

  private void sweep(Instant before) {
    Set<String> unnamed = new HashSet<>();
    try (Stream<Blob> all = contents.blobs().list(Upload.PREFIX)) {
      all.filter(blob -> blob.modified().isBefore(before))
          .map(Blob::name)
          // What is under way now may be named by a document that is looked at too early.
          .filter(name -> !contents.isUnderWay(name))
          .forEach(unnamed::add);
    }
    if (!unnamed.isEmpty()) {
      for (Document document : session.pages(Keys.DATA)) {
        NodeData.read(document).blobs().forEach(unnamed::remove);
      }
      unnamed.forEach(contents.blobs()::delete);
    }
  }
}
