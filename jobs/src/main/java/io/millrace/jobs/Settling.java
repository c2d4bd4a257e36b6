package io.millrace.jobs;

import io.millrace.blobs.BlobException;
import io.millrace.blobs.BlobStream;
import io.millrace.blobs.NoSuchBlobException;
import io.millrace.blobs.Value;
import io.millrace.store.Outcome;
import io.millrace.store.Owner;
import io.millrace.store.Reason;
import io.millrace.store.Transaction;
import io.millrace.store.When;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How attempts end, many in one transaction. */
final class Settling {
  /** Offers a task before all that were never claimed; among its like the older one comes first. */
  static final When BEFORE_ALL = new When.At(0);

  private static final Logger LOG = LoggerFactory.getLogger(Settling.class);
  private static final int MOST = 500;
  private static final int MOST_BYTES = 6 << 20;

  private final Ledger ledger;
  private final Batches batches;
  private final Groups groups;
  private final JobTypes types;
  private final int maxFailures;

  Settling(Ledger ledger, Batches batches, Groups groups, JobTypes types, int maxFailures) {
    this.ledger = ledger;
    this.batches = batches;
    this.groups = groups;
    this.types = types;
    this.maxFailures = maxFailures;
  }

  List<Settled> settle(List<Report> reports) {
    List<Attempt> attempts = reports.stream().map(Attempt::new).toList();
    List<Attempt> left = new ArrayList<>(attempts);
    try {
      while (!left.isEmpty()) {
        Ledger.inParts(part(left), MOST, this::settlePart);
        left.removeIf(attempt -> attempt.settled() != null);
      }
    } finally {
      attempts.forEach(this::cleanUp);
    }
    return attempts.stream().map(attempt -> Objects.requireNonNull(attempt.settled())).toList();
  }

  /** The next ones for one transaction: at most one for each job. */
  private static List<Attempt> part(List<Attempt> left) {
    List<Attempt> part = new ArrayList<>();
    Set<JobId> ids = new HashSet<>();
    long bytes = 0;
    for (Attempt attempt : left) {
      bytes += attempt.bytes();
      if (part.size() == MOST || (bytes > MOST_BYTES && !part.isEmpty())) {
        break;
      }
      if (ids.add(attempt.id())) {
        part.add(attempt);
      }
    }
    return part;
  }

  private void settlePart(List<Attempt> part) {
    ledger.insist(
        "a job with a report",
        number -> {
          List<Attempt> open = open(part);
          // What the caller holds is mostly the job as it is: the first try trusts it.
          if (number > 0 || open.stream().anyMatch(this::needsCopy)) {
            look(open);
            open = open(open);
          }
          open.forEach(this::prepareChild);
          Map<Owner, List<Attempt>> byOwner = new LinkedHashMap<>();
          for (Attempt attempt : open) {
            Owner owner = attempt.assignment().claim().owner();
            byOwner.computeIfAbsent(owner, _ -> new ArrayList<>()).add(attempt);
          }
          byOwner.forEach(this::commit);
          return open(open).isEmpty() ? true : null;
        });
  }

  private static List<Attempt> open(List<Attempt> attempts) {
    return attempts.stream().filter(attempt -> attempt.settled() == null).toList();
  }

  private void look(List<Attempt> attempts) {
    Map<JobId, Entry> entries = ledger.entries(attempts.stream().map(Attempt::id).toList());
    attempts.forEach(attempt -> attempt.judge(entries.get(attempt.id())));
  }

  private @Nullable JobType nextType(Attempt attempt) {
    return types.next(attempt.assignment().job().type());
  }

  private boolean needsCopy(Attempt attempt) {
    return attempt.report instanceof Report.Completed(Assignment _, Value.Stored _)
        && nextType(attempt) != null;
  }

  private void prepareChild(Attempt attempt) {
    JobType next = nextType(attempt);
    if (next == null
        || attempt.child() != null
        || !(attempt.report instanceof Report.Completed completed)) {
      return;
    }
    JobId id = ledger.newId();
    Value payload =
        switch (completed.result()) {
          case Value.Inline inline -> inline;
          case Value.Stored stored -> copy(stored, JobRegistry.payloadName(id));
        };
    Job parent = attempt.assignment().job();
    Submission order = new Submission(next.name(), parent.order().priority(), null, null);
    attempt.makeChild(new NewJob(id, order, payload, parent.id(), ledger.nowMillis()));
  }

  /** A copy of a blob: parent and child are deleted apart from each other. */
  private Value copy(Value.Stored from, String name) {
    try (BlobStream bytes = ledger.blobs().open(from.name())) {
      return new Value.Stored(name, ledger.blobs().put(name, bytes).size());
    } catch (NoSuchBlobException e) {
      throw new InvalidJobException("the result " + from.name() + " was not stored");
    } catch (IOException e) {
      throw new BlobException("blob " + from.name() + " cannot be copied: " + e, e);
    }
  }

  private void commit(Owner owner, List<Attempt> attempts) {
    if (attempts.stream().allMatch(attempt -> attempt.child() == null)) {
      Transaction.Builder transaction = Transaction.by(owner);
      List<Batches.@Nullable Spot> spots = new ArrayList<>();
      attempts.forEach(_ -> spots.add(null));
      write(transaction, attempts, spots, 0);
      take(ledger.commit(transaction.build()), attempts);
      return;
    }
    batches.filling(plan -> {
      try {
        plan.clear(false);
        Transaction.Builder transaction = Transaction.by(owner);
        List<Batches.@Nullable Spot> spots = new ArrayList<>();
        for (Attempt attempt : attempts) {
          NewJob child = attempt.child();
          spots.add(child == null ? null : plan.place(child.order().type()));
        }
        plan.writeTo(transaction);
        write(transaction, attempts, spots, plan.documents());
        if (take(ledger.commit(transaction.build()), attempts) instanceof Outcome.Done done) {
          plan.stored(done);
        } else {
          plan.clear(true);
        }
        return true;
      } catch (RuntimeException e) {
        plan.clear(true);
        throw e;
      }
    });
  }

  private void write(
      Transaction.Builder transaction,
      List<Attempt> attempts,
      List<Batches.@Nullable Spot> spots,
      int before) {
    Attempt.Context context = new Attempt.Context(ledger.nowMillis(), maxFailures, groups);
    int next = before;
    for (int i = 0; i < attempts.size(); i++) {
      next += attempts.get(i).writeTo(transaction, spots.get(i), context, next);
    }
  }

  private Outcome take(Outcome outcome, List<Attempt> attempts) {
    switch (outcome) {
      case Outcome.Done done -> attempts.forEach(attempt -> attempt.stored(done, ledger.known()));
      case Outcome.Refused refused -> {
        Set<Long> origins = new HashSet<>();
        for (Reason reason : refused.reasons()) {
          if (reason.task() != null) {
            origins.add(reason.task().origin());
          }
        }
        attempts.stream()
            .filter(attempt -> origins.contains(attempt.assignment().claim().origin()))
            .forEach(Attempt::claimIsMissing);
      }
    }
    return outcome;
  }

  /** Deletes what was stored for nothing. */
  private void cleanUp(Attempt attempt) {
    NewJob child = attempt.child();
    boolean refused = attempt.settled() instanceof Settled.Refused;
    if (child != null
        && child.payload() instanceof Value.Stored stored
        && (refused || isRepeated(attempt, child))) {
      discard(stored.name());
    }
    if (refused
        && attempt.report
            instanceof Report.Completed(Assignment assignment, Value.Stored(String name, long _))
        && name.equals(JobRegistry.resultName(assignment))) {
      discard(name);
    }
  }

  private static boolean isRepeated(Attempt attempt, NewJob child) {
    return attempt.settled() instanceof Settled.Accepted(Job job)
        && !child.id().equals(job.line().child());
  }

  private void discard(String blob) {
    try {
      ledger.blobs().delete(blob);
    } catch (BlobException e) {
      LOG.warn("blob {} stays until it is swept: {}", blob, e.toString());
    }
  }
}
