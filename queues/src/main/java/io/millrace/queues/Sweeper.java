package io.millrace.queues;

import io.millrace.blobs.BlobStore;
import io.millrace.store.TaskStore;
import io.millrace.work.Step;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.random.RandomGenerator;

/**
 * Sees to what nobody else does: runs whose claim ran out, finished tasks that are old, and output
 * that belongs to no task any more. Step-driven; for use by one thread. There may be several for
 * one store.
 */
public final class Sweeper implements Step {
  private static final Duration OUTPUT_EVERY = Duration.ofHours(1);

  private final RunRegistry runs;
  private final Salvage salvage;
  private final Archive archive;
  private final OutputSweep output;
  private final SweepSettings settings;
  private Instant outputDue = Instant.MIN;

  private Sweeper(QueueSession session, BlobStore blobs, SweepSettings settings) {
    this.runs = new RunRegistry(session);
    this.salvage = new ChunkSalvage(blobs, session::newId);
    this.archive = new Archive(session, blobs);
    this.output = new OutputSweep(session, blobs);
    this.settings = settings;
  }

  /**
   * What sweeps.
   *
   * @param clock tells the times of changes
   * @param random draws ids
   */
  public static Sweeper of(
      TaskStore store,
      BlobStore blobs,
      SweepSettings settings,
      InstantSource clock,
      RandomGenerator random) {
    return new Sweeper(new QueueSession(store, clock, random), blobs, settings);
  }

  @Override
  public Instant step(Instant now) {
    for (Run run : runs.lapsed()) {
      String reason =
          run.status() == Status.CLAIMED
              ? "it was claimed by node " + run.node() + " and never started"
              : "node " + run.node() + " let its claim run out while it was running";
      var _ = runs.orphan(run, salvage.report(run, reason));
    }
    archive.step(now.minus(settings.keepFinished()).toEpochMilli());
    if (!now.isBefore(outputDue)) {
      output.step();
      outputDue = now.plus(OUTPUT_EVERY);
    }
    return now.plus(settings.interval());
  }
}
