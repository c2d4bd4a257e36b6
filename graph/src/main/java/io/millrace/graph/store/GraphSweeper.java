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
  private final ValueStore values;
  private Instant nextSweep = Instant.MIN;

  GraphSweeper(GraphSession session, ValueStore values) {
    this.session = session;
    this.values = values;
  }

  @Override
  public Instant step(Instant now) {
    for (String name = values.discarded(); name != null; name = values.discarded()) {
      values.blobs().delete(name);
    }
    if (!now.isBefore(nextSweep)) {
      sweep(now.minus(GRACE));
      nextSweep = now.plus(GRACE);
    }
    return now.plus(PAUSE);
  }

  private void sweep(Instant before) {
    UnownedBlobs.sweep(
        values.blobs(),
        ValueStore.Upload.PREFIX,
        before,
        // What is under way now may be named by a document that is read too early.
        name -> !values.isUnderWay(name),
        unnamed -> {
          for (Document document : session.pages(Keys.DATA)) {
            NodeData.read(document).blobs().forEach(unnamed::remove);
          }
        });
  }
}
