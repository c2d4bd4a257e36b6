package io.millrace.queues;

import io.millrace.blobs.Blob;
import io.millrace.blobs.BlobStore;
import io.millrace.store.Document;
import io.millrace.store.TaskStore;
import io.millrace.work.Step;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.random.RandomGenerator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Ends and removes what is left over: runs whose claim ran out, finished tasks that are old, and
 * output that belongs to no task any more. Step-driven; for use by one thread. There may be several
 * for one store.
 */
public final class Sweeper implements Step {
  private static final Duration OUTPUT_EVERY = Duration.ofHours(1);

  private final RunRegistry runs;
  private final OutputRecovery recovery;
  private final Archive archive;
  private final OutputSweep output;
  private final SweepSettings settings;
  private Instant outputDue = Instant.MIN;

  private Sweeper(QueueSession session, BlobStore blobs, SweepSettings settings) {
    this.runs = new RunRegistry(session);
    this.recovery = new OutputRecovery.ChunkRecovery(blobs, session::newId);
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
      var _ = runs.orphan(run, recovery.report(run, reason));
    }
    archive.step(now.minus(settings.keepFinished()).toEpochMilli());
    if (!now.isBefore(outputDue)) {
      output.step();
      outputDue = now.plus(OUTPUT_EVERY);
    }
    return now.plus(settings.interval());
  }

  /**
   * Deletes output that nothing names: of runs whose task was queued again, and what a late runner
   * stored after its task had ended. Output of archived tasks is named by their file documents.
   */
  private static final class OutputSweep {
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
          chunks.remove(OutputFile.read(file).chunkPrefix());
        }
      }
      chunks.values().forEach(names -> names.forEach(blobs::delete));
    }

    private boolean isUnderWay(String prefix) {
      Matcher chunk = CHUNK.matcher(prefix + "0");
      if (!chunk.matches()) {
        return true;
      }
      Optional<Run> run = session.document(Keys.run(new ObjectId(chunk.group(2)))).map(Run::read);
      long token = Long.parseLong(chunk.group(3));
      return run.filter(now -> now.claim().token() == token).isPresent();
    }
  }
}
