package io.millrace.queues;

import io.millrace.blobs.BlobStore;
import io.millrace.store.TaskStore;
import java.time.Duration;
import java.time.InstantSource;
import java.util.random.RandomGenerator;

/**
 * Sees to what nobody else does: runs whose claim ran out, finished tasks that are old, and output
 * that belongs to no task any more. Step-driven; for use by one thread. There may be several for
 * one store.
 */
public final class Sweeper {
  private static final long OUTPUT_EVERY_MILLIS = Duration.ofHours(1).toMillis();

  private final Ledger ledger;
  private final RunRegistry runs;
  private final Salvage salvage;
  private final Archive archive;
  private final OutputSweep output;
  private final SweepSettings settings;
  private long outputDueMillis;

  private Sweeper(Ledger ledger, BlobStore blobs, SweepSettings settings) {
    this.ledger = ledger;
    this.runs = new RunRegistry(ledger);
    this.salvage = new ChunkSalvage(blobs, ledger::newId);
    this.archive = new Archive(ledger, blobs);
    this.output = new OutputSweep(ledger, blobs);
    this.settings = settings;
  }

  /**
   * What sweeps.
   *
   * @param clock tells the times of changes, and when work is due
   * @param random draws ids
   */
  public static Sweeper of(
      TaskStore store,
      BlobStore blobs,
      SweepSettings settings,
      InstantSource clock,
      RandomGenerator random) {
    return new Sweeper(new Ledger(store, clock, random), blobs, settings);
  }

  /**
   * Does what is due.
   *
   * @return in how many milliseconds it wants to be called again
   */
  public long step() {
    for (Run run : runs.lapsed()) {
      String reason =
          run.status() == Status.CLAIMED
              ? "it was claimed by node " + run.node() + " and never started"
              : "node " + run.node() + " let its claim run out while it was running";
      var _ = runs.orphan(run, salvage.report(run, reason));
    }
    long now = ledger.nowMillis();
    archive.step(now - settings.keepFinished().toMillis());
    if (now >= outputDueMillis) {
      output.step();
      outputDueMillis = now + OUTPUT_EVERY_MILLIS;
    }
    return settings.interval().toMillis();
  }
}
