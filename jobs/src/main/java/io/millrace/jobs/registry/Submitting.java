package io.millrace.jobs.registry;

import io.millrace.jobs.InvalidJobException;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobsException;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.Reason;
import io.millrace.store.StoreException;
import io.millrace.store.Transaction;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores submitted jobs. Those that arrive together share a transaction, since each changes the
 * current batch: the thread that has the lock of the batches commits for all that wait. A thread of
 * its own does so for those whose callers do not wait. Safe for use by any number of threads.
 */
final class Submitting {
  private static final Logger LOG = LoggerFactory.getLogger(Submitting.class);
  private static final int MOST = 500;
  private static final int MOST_BYTES = 8 << 20;

  private final JobStore store;
  private final Batches batches;
  private final Queue<Waiting> queue = new ConcurrentLinkedQueue<>();

  /** Whether a thread commits for callers that do not wait. */
  private final AtomicBoolean flushing = new AtomicBoolean();

  Submitting(JobStore store, Batches batches) {
    this.store = store;
    this.batches = batches;
  }

  /** A submission and its answer, guarded by the lock of the batches. */
  private static final class Waiting {
    final NewJob job;
    final CompletableFuture<Job> answer = new CompletableFuture<>();

    Waiting(NewJob job) {
      this.job = job;
    }

    boolean isOver() {
      return answer.isDone();
    }
  }

  /** Queues a job; it is committed when {@link #flush} is called, or with the next submission. */
  CompletableFuture<Job> enqueue(NewJob job) {
    Waiting waiting = new Waiting(job);
    queue.add(waiting);
    return waiting.answer;
  }

  /** Commits the queued jobs, on another thread. */
  void flush() {
    if (!queue.isEmpty() && flushing.compareAndSet(false, true)) {
      Thread.ofVirtual().name("job-submissions").start(this::commitAll);
    }
  }

  private void commitAll() {
    try {
      while (!queue.isEmpty()) {
        var _ =
            batches.filling(plan -> {
              commitSome(plan);
              return true;
            });
      }
    } catch (RuntimeException | Error e) {
      // No other thread may come for those that wait.
      for (Waiting next = queue.poll(); next != null; next = queue.poll()) {
        next.answer.completeExceptionally(e);
      }
    } finally {
      flushing.set(false);
    }
    // A job that was queued since then has found a thread at work.
    flush();
  }

  Job submit(NewJob job) {
    Waiting waiting = new Waiting(job);
    queue.add(waiting);
    while (!waiting.isOver()) {
      var _ =
          batches.filling(plan -> {
            if (!waiting.isOver()) {
              commitSome(plan);
            }
            return true;
          });
    }
    if (!waiting.answer.isCompletedExceptionally()) {
      return waiting.answer.resultNow();
    }
    throw switch (waiting.answer.exceptionNow()) {
      case RuntimeException e -> e;
      case Throwable e -> new JobsException("the job could not be taken: " + e, e);
    };
  }

  private void commitSome(Batches.Plan plan) {
    List<Waiting> part = new ArrayList<>();
    long bytes = 0;
    for (Waiting next = queue.peek();
        next != null && part.size() < MOST && bytes < MOST_BYTES;
        next = queue.peek()) {
      queue.remove();
      part.add(next);
      bytes += next.job.bytes();
    }
    try {
      JobStore.inParts(part, MOST, some -> commit(plan, some));
    } catch (RuntimeException | Error e) {
      plan.clear(true);
      for (Waiting each : part) {
        each.answer.completeExceptionally(e);
      }
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
    store.insist(
        "the current batch",
        number -> {
          left.removeIf(Waiting::isOver);
          if (left.isEmpty()) {
            return true;
          }
          plan.clear(number > 0);
          commitOnce(plan, firstOfEachKey(left), left);
          return left.stream().allMatch(Waiting::isOver) ? true : null;
        });
  }

  /** Without jobs whose key an earlier one has. */
  private static List<Waiting> firstOfEachKey(List<Waiting> waiting) {
    Set<String> keys = new HashSet<>();
    Set<JobId> ids = new HashSet<>();
    List<Waiting> first = new ArrayList<>(waiting.size());
    for (Waiting each : waiting) {
      String key = each.job.order().key();
      if (ids.add(each.job.id()) && (key == null || keys.add(key))) {
        first.add(each);
      }
    }
    return first;
  }

  private void commitOnce(Batches.Plan plan, List<Waiting> waiting, List<Waiting> all) {
    List<Batches.Spot> spots =
        waiting.stream().map(each -> plan.place(each.job.order().type())).toList();
    JobTransaction transaction = new JobTransaction(store.self());
    plan.writeTo(transaction);
    List<JobTransaction.Written> written = new ArrayList<>(waiting.size());
    for (int i = 0; i < waiting.size(); i++) {
      written.add(waiting.get(i).job.writeTo(transaction, spots.get(i)));
    }
    Transaction built = transaction.build();
    try {
      switch (store.commit(built)) {
        case Outcome.Done done -> {
          plan.stored(done);
          for (int i = 0; i < written.size(); i++) {
            waiting.get(i).answer.complete(store.stored(written.get(i), done));
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
          each.answer.complete(there.get());
        } else {
          each.answer.completeExceptionally(
              new InvalidJobException("job " + job.id() + " is there already"));
        }
        continue;
      }
      String key = job.order().key();
      if (key != null
          && conflicts.contains(Keys.name(key))
          && store.document(Keys.name(key)).isPresent()) {
        each.answer.completeExceptionally(
            new InvalidJobException("there is a job already with the key " + key));
      }
    }
  }
}
