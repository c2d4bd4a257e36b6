package io.millrace.graph;

import io.millrace.blobs.Blob;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Deletes the blobs of graphs that no node names: of values that were replaced, of nodes that were
 * removed, and of changes that did not come about. Step-driven; for use by one thread.
 */
public final class GraphSweeper {
  /** How often all blobs are looked at, and how old one of those is at least that goes. */
  public static final Duration GRACE = Duration.ofHours(1);

  /** How often those are deleted that are known to be replaced. */
  public static final Duration PAUSE = Duration.ofMinutes(1);

  private final Ledger ledger;
  private final Contents contents;
  private final InstantSource clock;
  private long lookAtMillis;

  GraphSweeper(Ledger ledger, Contents contents, InstantSource clock) {
    this.ledger = ledger;
    this.contents = contents;
    this.clock = clock;
  }

  /**
   * Does what is due.
   *
   * @return in how many milliseconds it wants to be called again
   */
  public long step() {
    for (String name = contents.discarded(); name != null; name = contents.discarded()) {
      contents.blobs().delete(name);
    }
    long now = clock.millis();
    if (now >= lookAtMillis) {
      sweep(now - GRACE.toMillis());
      lookAtMillis = now + GRACE.toMillis();
    }
    return PAUSE.toMillis();
  }

  private void sweep(long beforeMillis) {
    Set<String> unnamed = new HashSet<>();
    try (Stream<Blob> all = contents.blobs().list(Upload.PREFIX)) {
      all.filter(blob -> blob.modified().toEpochMilli() < beforeMillis)
          .map(Blob::name)
          // What is under way now may be named by a document that is looked at too early.
          .filter(name -> !contents.isUnderWay(name))
          .forEach(unnamed::add);
    }
    if (!unnamed.isEmpty()) {
      ledger.each(
          Keys.DATA, "", document -> NodeData.read(document).blobs().forEach(unnamed::remove));
      unnamed.forEach(contents.blobs()::delete);
    }
  }
}
