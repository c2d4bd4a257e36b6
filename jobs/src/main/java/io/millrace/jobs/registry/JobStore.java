package io.millrace.jobs.registry;

import io.millrace.blobs.BlobStore;
import io.millrace.blobs.NoSuchBlobException;
import io.millrace.blobs.Value;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobsException;
import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.jobs.JobsException.JobsFullException;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.StoreOptions.Ids;
import io.millrace.store.Task;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.Transaction;
import io.millrace.work.StoreSession;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.net.URI;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The store as the registry uses it, with a clock and ids. Payloads and results are documents while
 * they are small, blobs when they are not. Safe for use by threads.
 */
final class JobStore extends StoreSession {
  private static final Logger LOG = LoggerFactory.getLogger(JobStore.class);
  private static final int PAGE = 1_000;

  /** How much of the data of a foreign task is logged. */
  private static final int LOGGED = 100;

  private final BlobStore blobs;
  private final InstantSource clock;
  private final Guids ids;
  private final LongAdder foreign = new LongAdder();
  private final StoredJob.Cache known = new StoredJob.Cache();

  JobStore(TaskStore store, BlobStore blobs, Jobs.Environment environment) {
    super(store, environment.random());
    this.blobs = blobs;
    this.clock = environment.clock();
    this.ids = new Guids(clock, environment.random(), store.ids());
  }

  BlobStore blobs() {
    return blobs;
  }

  long nowMillis() {
    return clock.millis();
  }

  JobId newId() {
    return ids.next();
  }

  /** The jobs that were read or written last. */
  StoredJob.Cache known() {
    return known;
  }

  /**
   * The job that a task of a group of jobs stands for; empty if something else has put it there.
   */
  static Optional<JobId> job(Task task) {
    try {
      return Optional.of(JobJson.id(task.data().utf8()));
    } catch (IllegalArgumentException _) {
      return Optional.empty();
    }
  }

  /**
   * Removes a task that stands for no job. It would be in the way of jobs: it would be claimed
   * again and again.
   */
  void remove(Task task) {
    if (commit(Transaction.by(self()).delete(task.ref()).build()) instanceof Outcome.Done
        && job(task).isEmpty()) {
      noteForeign(task);
    }
  }

  /** Notes that a task was removed that the job server did not write. */
  void noteForeign(Task task) {
    foreign.increment();
    String data = task.data().utf8();
    LOG.warn(
        "task {} of group {} was removed, since no job server has written it: its data is {}",
        task.id(),
        task.group(),
        data.length() <= LOGGED ? data : data.substring(0, LOGGED) + "…");
  }

  /** How many tasks were removed because no job server had written them. */
  long foreignTasks() {
    return foreign.sum();
  }

  /** A job as a commit has stored it. */
  Job stored(JobTransaction.Written written, Outcome.Done done) {
    return known.keep(written.in(done)).job();
  }

  Optional<StoredJob> entry(JobId id) {
    return document(Keys.job(id)).map(known::read);
  }

  /**
   * The jobs of these ids that exist: from the cache if they are {@code good} there, otherwise from
   * the store. Only for commits that name their versions.
   */
  Map<JobId, StoredJob> entries(Collection<JobId> wanted, Predicate<StoredJob> good) {
    Map<JobId, StoredJob> found = new HashMap<>();
    List<JobId> others = new ArrayList<>();
    for (JobId id : wanted) {
      known
          .find(id)
          .filter(good)
          .ifPresentOrElse(entry -> found.put(id, entry), () -> others.add(id));
    }
    found.putAll(entries(others));
    return found;
  }

  /**
   * The jobs of these ids that exist. Jobs that are wanted together were mostly submitted together,
   * so they are read by ranges instead of one by one.
   */
  Map<JobId, StoredJob> entries(Collection<JobId> wanted) {
    Map<JobId, StoredJob> found = new HashMap<>();
    TreeSet<String> missing = new TreeSet<>();
    wanted.forEach(id -> missing.add(id.toString()));
    while (!missing.isEmpty()) {
      if (missing.size() == 1) {
        entry(JobJson.id(missing.removeFirst())).ifPresent(e -> found.put(e.job().id(), e));
        continue;
      }
      String first = missing.first();
      int limit = Math.min(PAGE, 2 * missing.size());
      List<Document> page =
          store().documents(new DocumentQuery(Keys.JOBS, "", justBefore(first), limit)).value();
      String last = page.size() < limit ? missing.last() : page.getLast().key().key();
      for (Document document : page) {
        if (missing.contains(document.key().key())) {
          StoredJob entry = known.read(document);
          found.put(entry.job().id(), entry);
        }
      }
      missing.headSet(last, true).clear();
    }
    return found;
  }

  /** The greatest key that is smaller and may occur: one of an id whose last digit is less. */
  private static String justBefore(String id) {
    return id.substring(0, id.length() - 1);
  }

  /** Commits; see {@link #commit(io.millrace.store.Transaction)}. */
  Outcome commit(JobTransaction transaction) {
    return commit(transaction.build());
  }

  /** Whether a value of this size is kept as a document, not as a blob. */
  static boolean isInline(long size) {
    return size <= Value.INLINE_LIMIT;
  }

  /** What the document of a result holds: its bytes, or the name of its blob. */
  static Bytes resultBody(Value result) {
    return switch (result) {
      case Value.Inline inline -> Bytes.copyOf(inline.bytes());
      case Value.Stored(String name, long _) -> Bytes.of(name);
    };
  }

  Optional<InputStream> payload(Job job) {
    return isInline(job.content().payload())
        ? bytes(Keys.payload(job.id()))
        : blob(JobRegistry.payloadName(job.id()));
  }

  /** The payload as it is kept. */
  Value payloadValue(Job job) {
    long size = job.content().payload();
    return isInline(size)
        ? new Value.Inline(
            document(Keys.payload(job.id()))
                .map(document -> document.body().toArray())
                .orElse(new byte[0]))
        : new Value.Stored(JobRegistry.payloadName(job.id()), size);
  }

  Optional<InputStream> result(Job job) {
    Long size = job.content().result();
    if (size == null) {
      return Optional.empty();
    }
    return isInline(size) ? bytes(Keys.result(job.id())) : resultBlob(job.id()).flatMap(this::blob);
  }

  /** Where everybody can read the payload for a while; empty if it is no blob with a link. */
  Optional<URI> payloadLink(Job job) {
    return isInline(job.content().payload())
        ? Optional.empty()
        : blobs.publicLink(JobRegistry.payloadName(job.id()));
  }

  /** Where everybody can read the result for a while; empty if it is no blob with a link. */
  Optional<URI> resultLink(Job job) {
    Long size = job.content().result();
    return size == null || isInline(size)
        ? Optional.empty()
        : resultBlob(job.id()).flatMap(blobs::publicLink);
  }

  /** The name of the blob that holds the result of a job that has one. */
  Optional<String> resultBlob(JobId id) {
    return document(Keys.result(id)).map(document -> document.body().utf8());
  }

  private Optional<InputStream> bytes(DocumentKey key) {
    return document(key).map(Document::body).map(body -> new ByteArrayInputStream(body.toArray()));
  }

  private Optional<InputStream> blob(String name) {
    try {
      return Optional.of(blobs.open(name));
    } catch (NoSuchBlobException _) {
      return Optional.empty();
    }
  }

  @Override
  protected RuntimeException refused(Reason reason) {
    return switch (reason.kind()) {
      case FULL -> new JobsFullException(reason.message());
      case TOO_LARGE -> new TooLargeException(reason.message());
      default -> new InvalidJobException(reason.message());
    };
  }

  @Override
  protected RuntimeException contended(String message) {
    return new JobsException(message);
  }

  /** Hands over parts of a list, smaller ones if a part is too large for the store. */
  static <T> void inParts(List<T> all, int most, Consumer<List<T>> work) {
    int size = most;
    List<T> left = new ArrayList<>(all);
    while (!left.isEmpty()) {
      List<T> part = left.subList(0, Math.min(size, left.size()));
      try {
        work.accept(List.copyOf(part));
        part.clear();
      } catch (TooLargeException e) {
        if (part.size() == 1) {
          throw e;
        }
        size = part.size() / 2;
      }
    }
  }

  /** A transaction or claim exceeds a limit of the store; a smaller one may be taken. */
  static final class TooLargeException extends JobsException {
    TooLargeException(String message) {
      super(message);
    }
  }

  /**
   * Version 7 UUIDs that grow even if the clock stands still or goes back: within a millisecond the
   * next twelve bits count, and once they are used up, the next millisecond is taken. Safe for use
   * by any number of threads.
   */
  static final class Guids {
    private static final int COUNTER_BITS = 12;
    private static final long VERSION = 0x7000;
    private static final long VARIANT = 1L << 63;
    private static final long RANDOM_BITS = (1L << 62) - 1;

    private final InstantSource clock;
    private final RandomGenerator random;
    private final Ids ids;

    /** The milliseconds and the counter of the last one. */
    private long last;

    Guids(InstantSource clock, RandomGenerator random, Ids ids) {
      this.clock = clock;
      this.random = random;
      this.ids = ids;
    }

    synchronized JobId next() {
      last = Math.max(last + 1, clock.millis() << COUNTER_BITS);
      long counter = last & ((1 << COUNTER_BITS) - 1);
      long high = (last >>> COUNTER_BITS << 16) | VERSION | counter;
      return new JobId(new UUID(high, VARIANT | ids.upTo(random.nextLong() & RANDOM_BITS)));
    }
  }
}
