package io.millrace.queues.registry;

import io.millrace.archive.ArchiveException;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.UnownedBlobs;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output.OutputFile;
import io.millrace.queues.Output.OutputRecovery;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueueTask.Progress;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.Run;
import io.millrace.queues.Status;
import io.millrace.store.Document;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.work.Step;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends and removes what is over: runs whose claim expired, tasks that are over time, and output
 * that no longer belongs to a task. Step-driven; for use by one thread. There may be several for
 * one store.
 */
public final class Sweeper implements Step {
  private static final Logger LOG = LoggerFactory.getLogger(Sweeper.class);
  private static final Duration OUTPUT_EVERY = Duration.ofHours(1);
  private static final int FAILED_AT_ONCE = 200;
  private static final String FIRST_ID = "0".repeat(24);

  private static final Pattern CHUNK =
      Pattern.compile("(queue-task-([0-9a-f]{24})-(\\d+)-(?:stdout|stderr)-)\\d+");

  private final QueueSession session;
  private final BlobStore blobs;
  private final RunRegistry runs;
  private final OutputRecovery recovery;
  private final TaskArchive archive;
  private final Settings settings;
  private Instant outputDue = Instant.MIN;

  private Sweeper(QueueSession session, BlobStore blobs, TaskArchive archive, Settings settings) {
    this.session = session;
    this.blobs = blobs;
    this.runs = new RunRegistry(session);
    this.recovery = OutputRecovery.from(blobs, session::newId);
    this.archive = archive;
    this.settings = settings;
  }

  /**
   * Makes a sweeper.
   *
   * @param archive holds tasks whose output stays
   * @param clock gives the times of changes
   * @param random draws ids
   */
  public static Sweeper of(
      TaskStore store,
      BlobStore blobs,
      TaskArchive archive,
      Settings settings,
      InstantSource clock,
      RandomGenerator random) {
    return new Sweeper(new QueueSession(store, clock, random), blobs, archive, settings);
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
    failOverdue(now.toEpochMilli());
    if (!now.isBefore(outputDue)) {
      UnownedBlobs.sweep(
          blobs, "queue-task-", Instant.MAX, CHUNK.asMatchPredicate(), this::removeOwned);
      removeKeys(now.toEpochMilli());
      outputDue = now.plus(OUTPUT_EVERY);
    }
    return now.plus(settings.interval());
  }

  /**
   * Removes the blobs of output that is referred to from these names. The rest is output of runs
   * whose task was queued again, and output that a late runner stored after its task had ended.
   * While the archive cannot say what it holds, nothing is removed.
   */
  private void removeOwned(Set<String> names) {
    Map<String, List<String>> chunks = new HashMap<>();
    for (String name : names) {
      Matcher chunk = CHUNK.matcher(name);
      if (chunk.matches()) {
        chunks.computeIfAbsent(chunk.group(1), _ -> new ArrayList<>()).add(name);
      }
    }
    // In this order: a run that ends after the first look is seen to be under way, and one that
    // ended before has left its file documents.
    chunks.keySet().removeIf(this::isUnderWay);
    if (!chunks.isEmpty()) {
      for (Document file : session.pages(Keys.FILES)) {
        chunks.remove(OutputFile.read(file).chunkPrefix());
      }
    }
    removeArchived(chunks);
    names.clear();
    chunks.values().forEach(names::addAll);
  }

  /** Fails tasks that are over time while they do not run, many in one commit. */
  private void failOverdue(long nowMillis) {
    String end = Keys.deadline(nowMillis + 1, new ObjectId(FIRST_ID)).key();
    List<ObjectId> overdue = new ArrayList<>();
    for (Document deadline : session.pages(Keys.DEADLINES)) {
      if (deadline.key().key().compareTo(end) >= 0) {
        break;
      }
      overdue.add(new ObjectId(deadline.body().utf8()));
    }
    for (int from = 0; from < overdue.size(); from += FAILED_AT_ONCE) {
      List<ObjectId> some = overdue.subList(from, Math.min(overdue.size(), from + FAILED_AT_ONCE));
      if (!fail(some, nowMillis)) {
        // What is changing just now is looked at again by the next sweep.
        some.forEach(task -> fail(List.of(task), nowMillis));
      }
    }
  }

  /** Whether nothing has changed meanwhile. */
  private boolean fail(List<ObjectId> tasks, long nowMillis) {
    Transaction.Builder transaction = session.begin();
    boolean any = false;
    for (ObjectId id : tasks) {
      Optional<QueueTask> found = session.document(Keys.task(id)).map(QueueTask::read);
      if (found.isEmpty() || Status.isActive(found.get().status())) {
        continue;
      }
      QueueTask task = found.get();
      Optional<String> limit =
          task.progress().deadlines().exceeded(task.status() == Status.QUEUED, nowMillis);
      if (limit.isPresent()) {
        Progress failed = task.progress().to(Status.FAILED, nowMillis, limit.get());
        TaskTransitions.move(transaction, task, task.with(failed));
        any = true;
      }
    }
    try {
      return !any || session.tryCommit(transaction.build()) != null;
    } catch (InvalidRequestException e) {
      if (tasks.size() == 1) {
        throw e;
      }
      // Together they are too large.
      return false;
    }
  }

  private void removeArchived(Map<String, List<String>> chunks) {
    Set<ObjectId> tasks = new HashSet<>();
    for (String prefix : chunks.keySet()) {
      Matcher chunk = CHUNK.matcher(prefix + "0");
      if (chunk.matches()) {
        tasks.add(new ObjectId(chunk.group(2)));
      }
    }
    try {
      for (QueueTask task : archive.find(tasks).values()) {
        task.output().chunkPrefixes().forEach(chunks::remove);
      }
    } catch (ArchiveException e) {
      LOG.debug("no output is removed", e);
      chunks.clear();
    }
  }

  /** Removes unique keys whose period has ended. */
  private void removeKeys(long nowMillis) {
    for (Document key : session.pages(Keys.UNIQUE)) {
      if (UniqueHolds.isOver(key, nowMillis)) {
        // Unless a new task has taken it.
        session.tryCommit(session.begin().delete(key.key(), key.version()).build());
      }
    }
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

  /**
   * The settings of a {@link Sweeper}.
   *
   * @param interval the pause between two sweeps; default 1 s
   */
  public record Settings(Duration interval) {
    /** The defaults. */
    public static final Settings DEFAULTS = new Settings(Duration.ofSeconds(1));

    /**
     * Checks the duration.
     *
     * @throws InvalidRequestException when it is not positive
     */
    public Settings {
      if (!interval.isPositive()) {
        throw new InvalidRequestException("", "the interval of a sweeper is positive");
      }
    }
  }
}
