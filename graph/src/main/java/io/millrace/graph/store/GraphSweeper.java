package io.millrace.graph.store;

import io.millrace.blobs.UnownedBlobs;
import io.millrace.store.Document;
import io.millrace.work.Step;
import java.time.Duration;
import java.time.Instant;

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
  private final ValueStore contents;
  private Instant nextSweep = Instant.MIN;

  GraphSweeper(GraphSession session, ValueStore contents) {
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
    UnownedBlobs.sweep(
        contents.blobs(),
        Upload.PREFIX,
        before,
        // What is under way now may be named by a document that is read too early.
        name -> !contents.isUnderWay(name),
        unnamed -> {
          for (Document document : session.pages(Keys.DATA)) {
            NodeData.read(document).blobs().forEach(unnamed::remove);
          }
        });
  }
}
