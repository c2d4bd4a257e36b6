package io.millrace.jobs;

import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Reason;
import io.millrace.store.Transaction;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Submissions. Those that arrive together share a transaction, since each changes the current
 * batch: whoever holds the batches commits for all that wait. Safe for use by any number of
 * threads.
 */
final class Submitting {
  private static final int MOST = 500;
  private static final int MOST_BYTES = 8 << 20;

  private final Ledger ledger;
  private final Batches batches;
  private final Queue<Waiting> queue = new ConcurrentLinkedQueue<>();

  Submitting(Ledger ledger, Batches batches) {
    this.ledger = ledger;
    this.batches = batches;
  }

  /** A submission, and what came of it; the lock of the batches guards that. */
  private static final class Waiting {
    final NewJob job;
    @Nullable Job done;
    @Nullable RuntimeException failure;

    Waiting(NewJob job) {
      this.job = job;
    }

    boolean isOver() {
      return done != null || failure != null;
    }
  }

  Job submit(NewJob job) {
    Waiting waiting = new Waiting(job);
    queue.add(waiting);
    while (true) {
      @Nullable Job done =
          batches.filling(plan -> {
            if (!waiting.isOver()) {
              commitSome(plan);
            }
            if (waiting.failure != null) {
              throw waiting.failure;
            }
            return waiting.done;
          });
      if (done != null) {
        return done;
      }
    }
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
      Ledger.inParts(part, MOST, some -> commit(plan, some));
    } catch (RuntimeException e) {
      plan.clear(true);
      for (Waiting each : part) {
        if (!each.isOver()) {
          each.failure = e;
        }
      }
    }
  }

  private void commit(Batches.Plan plan, List<Waiting> part) {
    List<Waiting> left = new ArrayList<>(part);
    ledger.insist(
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

  /** Without those whose key another one before them wants. */
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
    Transaction.Builder transaction = Transaction.by(ledger.self());
    plan.writeTo(transaction);
    int[] documents = new int[waiting.size()];
    int next = plan.documents();
    for (int i = 0; i < documents.length; i++) {
      documents[i] = next;
      next += waiting.get(i).job.writeTo(transaction, spots.get(i));
    }
    switch (ledger.commit(transaction.build())) {
      case Outcome.Done done -> {
        plan.stored(done);
        for (int i = 0; i < documents.length; i++) {
          waiting.get(i).done = JobForm.read(done.documents().get(documents[i])).job();
        }
      }
      case Outcome.Refused refused -> judge(all, refused);
    }
  }

  /** Settles those that can never be taken. */
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
        Optional<Job> there = ledger.entry(job.id()).map(Entry::job);
        if (there.isPresent() && there.get().order().equals(job.order())) {
          each.done = there.get();
        } else {
          each.failure = new InvalidJobException("job " + job.id() + " is there already");
        }
        continue;
      }
      String key = job.order().key();
      if (key != null
          && conflicts.contains(Keys.name(key))
          && ledger.document(Keys.name(key)).isPresent()) {
        each.failure = new InvalidJobException("the key " + key + " is taken");
      }
    }
  }
}
