package io.millrace.jobs.registry;

import io.millrace.blobs.Value;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.JobsException;
import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.jobs.JobsException.SubmittedBeforeException;
import io.millrace.jobs.Submission;
import io.millrace.store.Bytes;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.StoreException;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.work.GroupCommit;
import io.millrace.work.policy.Policy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores submitted jobs. Those that arrive together share a transaction, since each changes the
 * current batch. Safe for use by any number of threads.
 */
final class Submitting {
  private static final Logger LOG = LoggerFactory.getLogger(Submitting.class);
  private static final int MOST = 500;
  private static final int MAX_BYTES = 8 << 20;

  private final JobStore store;
  private final Batches batches;
  private final UniqueJobs unique;
  private final GroupCommit<Waiting> commits =
      new GroupCommit<>("job-submissions", this::commitSome);

  /** Submissions to batches of {@code batchSize} jobs. */
  Submitting(JobStore store, int batchSize) {
    this.store = store;
    this.batches = new Batches(store, batchSize);
    this.unique = new UniqueJobs(store);
  }

  private static final class Waiting extends GroupCommit.Request<Job> {
    final NewJob job;

    /** What it holds, and at which versions that is taken. */
    final List<Job.Hold> holds;

    final long[] versions;

    Waiting(NewJob job) {
      this.job = job;
      this.holds = job.holds().all();
      this.versions = new long[holds.size()];
    }

    List<DocumentKey> keys() {
      return holds.stream().map(hold -> UniqueJobs.key(job.order(), hold)).toList();
    }
  }

  /** Queues a job; it is committed when {@link #flush} is called, or with the next submission. */
  CompletableFuture<Job> enqueue(NewJob job) {
    Waiting waiting = new Waiting(job);
    commits.enqueue(waiting);
    return waiting.answer();
  }

  /** Commits the queued jobs, on another thread. */
  void flush() {
    commits.flush();
  }

  Job submit(NewJob job) {
    Waiting waiting = new Waiting(job);
    commits.run(waiting);
    return waiting.result();
  }

  /**
   * Stores jobs in a commit that also does something else.
   *
   * @param commit commits the transaction; null if something changed in between
   * @return whether it was committed
   */
  boolean submitWith(
      List<NewJob> jobs, Function<Transaction.Builder, Outcome.@Nullable Done> commit) {
    return placing(plan -> {
      try {
        plan.clear(false);
        List<Batches.Spot> spots =
            jobs.stream().map(job -> plan.place(job.order().type())).toList();
        JobTransaction transaction = new JobTransaction(store.self());
        plan.writeTo(transaction);
        for (int i = 0; i < jobs.size(); i++) {
          jobs.get(i).writeTo(transaction, spots.get(i));
        }
        Outcome.Done done = commit.apply(transaction.builder());
        if (done == null) {
          plan.clear(true);
          return false;
        }
        plan.stored(done);
        return true;
      } catch (RuntimeException e) {
        plan.clear(true);
        throw e;
      }
    });
  }

  /** Lets another commit place jobs in batches; no submission is committed meanwhile. */
  <T extends @Nullable Object> T placing(Function<Batches.Plan, T> commit) {
    return commits.exclusively(() -> commit.apply(batches.plan()));
  }

  private void commitSome(GroupCommit.Waiting<Waiting> queue) {
    Batches.Plan plan = batches.plan();
    List<Waiting> part = new ArrayList<>();
    long bytes = 0;
    for (Waiting next = queue.take(); next != null; ) {
      part.add(next);
      bytes += next.job.bytes();
      next = part.size() < MOST && bytes < MAX_BYTES ? queue.take() : null;
    }
    try {
      JobStore.inParts(part, MOST, some -> commit(plan, some));
    } catch (RuntimeException | Error e) {
      plan.clear(true);
      throw e;
    }
  }

  /**
   * A failure of a commit as each of its submissions hears it. Their threads did not call the store
   * themselves, so the exception has to say that the jobs may be there.
   */
  private static OutcomeUnknownException unforeseen(Throwable failure) {
    LOG.error("submitted jobs may be stored or not: their commit failed", failure);
    return new OutcomeUnknownException(
        "the commit failed, and nobody knows whether the job was stored: " + failure, failure);
  }

  private void commit(Batches.Plan plan, List<Waiting> part) {
    List<Waiting> left = new ArrayList<>(part);
    AtomicBoolean again = new AtomicBoolean();
    store.retry(
        "the current batch",
        () -> {
          left.removeIf(Waiting::isOver);
          if (left.isEmpty()) {
            return true;
          }
          plan.clear(again.getAndSet(true));
          List<Waiting> next = firstOfEachKey(left);
          next.removeIf(this::isDuplicate);
          if (!next.isEmpty()) {
            commitOnce(plan, next, left);
          }
          return left.stream().allMatch(Waiting::isOver) ? true : null;
        });
  }

  /** Without jobs whose key an earlier one has. */
  private static List<Waiting> firstOfEachKey(List<Waiting> waiting) {
    Set<String> keys = new HashSet<>();
    Set<DocumentKey> uniqueKeys = new HashSet<>();
    Set<JobId> ids = new HashSet<>();
    List<Waiting> first = new ArrayList<>(waiting.size());
    for (Waiting each : waiting) {
      String key = each.job.order().key();
      if (ids.add(each.job.id())
          && (key == null || keys.add(key))
          && each.keys().stream().allMatch(uniqueKeys::add)) {
        first.add(each);
      }
    }
    return first;
  }

  /**
   * Whether another job holds the unique key or has the request id of a new one, which then has its
   * answer.
   */
  private boolean isDuplicate(Waiting waiting) {
    for (int i = 0; i < waiting.versions.length; i++) {
      Job.Hold hold = waiting.holds.get(i);
      UniqueJobs.Found found = unique.find(waiting.job, hold, store.nowMillis());
      if (found.holder() != null) {
        waiting.complete(found.holder());
        return true;
      }
      JobId gone = found.gone();
      if (gone != null && hold.equals(waiting.job.holds().request())) {
        waiting.fail(new SubmittedBeforeException(gone));
        return true;
      }
      waiting.versions[i] = found.version();
    }
    return false;
  }

  private void commitOnce(Batches.Plan plan, List<Waiting> waiting, List<Waiting> all) {
    List<Batches.Spot> spots =
        waiting.stream().map(each -> plan.place(each.job.order().type())).toList();
    JobTransaction transaction = new JobTransaction(store.self());
    plan.writeTo(transaction);
    List<JobTransaction.Written> written = new ArrayList<>(waiting.size());
    for (int i = 0; i < waiting.size(); i++) {
      Waiting each = waiting.get(i);
      written.add(each.job.writeTo(transaction, spots.get(i)));
      for (int held = 0; held < each.versions.length; held++) {
        UniqueJobs.take(transaction, each.job, each.holds.get(held), each.versions[held]);
      }
    }
    Transaction built = transaction.build();
    try {
      switch (store.commit(built)) {
        case Outcome.Done done -> {
          plan.stored(done);
          for (int i = 0; i < written.size(); i++) {
            waiting.get(i).complete(store.stored(written.get(i), done));
          }
        }
        case Outcome.Refused refused -> judge(all, refused);
      }
    } catch (StoreException | JobsException e) {
      throw e;
    } catch (RuntimeException | Error e) {
      throw unforeseen(e);
    }
  }

  /** Answers those that can never be stored. */
  private void judge(List<Waiting> waiting, Outcome.Refused refused) {
    Set<DocumentKey> conflicts = new HashSet<>();
    for (Reason reason : refused.reasons()) {
      if (reason.document() != null) {
        conflicts.add(reason.document());
      }
    }
    for (Waiting each : waiting) {
      NewJob job = each.job;
      if (conflicts.contains(Keys.job(job.id()))) {
        Optional<Job> there = store.entry(job.id()).map(StoredJob::job);
        if (there.isPresent() && there.get().order().equals(job.order())) {
          each.complete(there.get());
        } else {
          each.fail(new InvalidJobException("job " + job.id() + " is there already"));
        }
        continue;
      }
      String key = job.order().key();
      if (key != null
          && conflicts.contains(Keys.name(key))
          && store.document(Keys.name(key)).isPresent()) {
        each.fail(new InvalidJobException("there is a job already with the key " + key));
      }
    }
  }

  /**
   * A new job that is to be stored.
   *
   * @param id its GUID
   * @param order what was submitted
   * @param payload kept already
   * @param parent the job of whose result it is made; null if it was submitted
   * @param scheduled the run of a schedule that it is; null for none
   * @param submittedMillis when
   * @param holds by what it is unique
   * @param settings its settings, and those of its type
   */
  record NewJob(
      JobId id,
      Submission order,
      Value payload,
      @Nullable JobId parent,
      Job.@Nullable Scheduled scheduled,
      long submittedMillis,
      Holds holds,
      Policy settings) {
    private static final int METADATA_BYTES = 1_000;

    /**
     * By what a new job is unique.
     *
     * @param unique the unique key that it holds; null for none
     * @param request its request id, which is remembered whatever becomes of the job; null for none
     */
    record Holds(Job.@Nullable Hold unique, Job.@Nullable Hold request) {
      /** A job that is never a duplicate. */
      static final Holds NONE = new Holds(null, null);

      /** Those that there are, the request id first. */
      List<Job.Hold> all() {
        if (request == null) {
          return unique == null ? List.of() : List.of(unique);
        }
        return unique == null ? List.of(request) : List.of(request, unique);
      }
    }

    /** One that is no run of a schedule, and has no unique key. */
    NewJob(
        JobId id,
        Submission order,
        Value payload,
        @Nullable JobId parent,
        long submittedMillis,
        Policy settings) {
      this(id, order, payload, parent, null, submittedMillis, Holds.NONE, settings);
    }

    /** About how many bytes it brings to a transaction. */
    long bytes() {
      return METADATA_BYTES + (payload instanceof Value.Inline ? payload.size() : 0);
    }

    /** Adds its task and its documents, the job's first. */
    JobTransaction.Written writeTo(JobTransaction transaction, Batches.Spot spot) {
      Duration delay = Duration.ofMillis(Math.max(0, order.notBeforeMillis() - submittedMillis));
      Job job =
          new Job(
              id,
              order,
              JobStatus.PENDING,
              spot.batch(),
              new Job.Times(submittedMillis, null, null),
              0,
              0,
              new Job.Waiting(
                  delay.isZero() ? 0 : order.notBeforeMillis(),
                  0,
                  Job.Limits.of(settings, submittedMillis + delay.toMillis())),
              Job.Hand.NOBODY,
              new Job.Line(parent, null, null, scheduled),
              new Job.Content(payload.size(), null),
              new Job.Place(DocumentVersion.ABSENT, 0, holds.unique(), 0));
      JobTransaction.Written written =
          transaction.add(
              new StoredJob(job, null), Groups.waiting(order.type(), order.priority()), delay);
      transaction.put(
          Keys.member(spot.batch(), id),
          DocumentVersion.ABSENT,
          Bytes.of(Integer.toString(spot.index())));
      if (order.key() != null) {
        transaction.put(Keys.name(order.key()), DocumentVersion.ABSENT, Bytes.of(id.toString()));
      }
      if (payload instanceof Value.Inline inline) {
        transaction.put(Keys.payload(id), DocumentVersion.ANY, Bytes.copyOf(inline.bytes()));
      }
      return written;
    }
  }
}
