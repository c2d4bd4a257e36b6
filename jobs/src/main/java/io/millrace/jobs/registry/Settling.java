package io.millrace.jobs.registry;

import io.millrace.blobs.BlobException;
import io.millrace.blobs.Value;
import io.millrace.jobs.Assignment;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.JobTypes.JobType;
import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.jobs.JobsException.JobsFullException;
import io.millrace.jobs.Report;
import io.millrace.jobs.Report.Settled;
import io.millrace.jobs.registry.Submitting.NewJob;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.Owner;
import io.millrace.store.StoreException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Stores how attempts ended, many in one transaction. */
final class Settling {
  private static final Logger LOG = LoggerFactory.getLogger(Settling.class);
  private static final int MOST = 500;
  private static final int MAX_BYTES = 6 << 20;

  private final JobStore store;
  private final Submitting submitting;
  private final Groups groups;
  private final Jobs.Options options;
  private final FollowOns followOns;

  Settling(
      JobStore store,
      Submitting submitting,
      Groups groups,
      Jobs.Options options,
      FollowOns followOns) {
    this.store = store;
    this.submitting = submitting;
    this.groups = groups;
    this.options = options;
    this.followOns = followOns;
  }

  List<Settled> settle(List<Report> reports) {
    List<Attempt> attempts = reports.stream().map(Attempt::new).toList();
    List<Attempt> left = new ArrayList<>(attempts);
    try {
      while (!left.isEmpty()) {
        List<Attempt> part = part(left);
        try {
          JobStore.inParts(part, MOST, this::settlePart);
        } catch (StoreException | JobsFullException e) {
          throw e;
        } catch (RuntimeException _) {
          // One of them cannot be stored. The others must not wait for it.
          open(part).forEach(this::settleAlone);
        }
        left.removeIf(attempt -> attempt.settled() != null);
      }
    } catch (JobsFullException e) {
      open(attempts).forEach(this::discardChild);
      throw e;
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
      if (part.size() == MOST || (bytes > MAX_BYTES && !part.isEmpty())) {
        break;
      }
      if (ids.add(attempt.id())) {
        part.add(attempt);
      }
    }
    return part;
  }

  /**
   * Settles one report that the store may not take: first as it is, then with its follow-on job
   * left for later. A report that the store would never take becomes a failure of its job; if it
   * fails in any other way, it is postponed.
   */
  private void settleAlone(Attempt attempt) {
    while (attempt.settled() == null) {
      try {
        settlePart(List.of(attempt));
      } catch (StoreException | JobsFullException e) {
        throw e;
      } catch (RuntimeException e) {
        JobType next = nextType(attempt);
        boolean failed =
            attempt.report() instanceof Report.Failed(Assignment _, Failure failure)
                && failure.logs() == null;
        if (next != null && attempt.followOn() == null) {
          discardChild(attempt);
          attempt.makeChildLater(new Job.FollowOn(next.name(), problem(e)));
        } else if ((e instanceof JobStore.TooLargeException || e instanceof InvalidJobException)
            && !failed) {
          LOG.warn("what was reported of job {} cannot be stored", attempt.id(), e);
          attempt.fail(
              new Failure(
                  attempt.assignment().worker(),
                  store.nowMillis(),
                  "what its worker reported cannot be stored: " + problem(e),
                  null));
        } else {
          LOG.warn("what was reported of job {} is stored later", attempt.id(), e);
          attempt.postpone(problem(e));
        }
      }
    }
  }

  /** The message of a failure, for people. */
  static String problem(RuntimeException failure) {
    String message = failure.getMessage();
    return message == null ? failure.toString() : message;
  }

  private void discardChild(Attempt attempt) {
    if (attempt.child() != null && attempt.child().payload() instanceof Value.Stored stored) {
      discard(stored.name());
    }
  }

  private void settlePart(List<Attempt> part) {
    AtomicBoolean again = new AtomicBoolean();
    store.retry(
        "a job with a report",
        () -> {
          List<Attempt> open = open(part);
          // The caller mostly holds the latest version of the job: the first try relies on that.
          if (again.getAndSet(true)) {
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
    Map<JobId, StoredJob> entries = store.entries(attempts.stream().map(Attempt::id).toList());
    attempts.forEach(attempt -> attempt.judge(entries.get(attempt.id())));
  }

  /** The type of which the result becomes a job; null for none, and when there is no result. */
  private @Nullable JobType nextType(Attempt attempt) {
    return attempt.report() instanceof Report.Completed
        ? followOns.types().next(attempt.assignment().job().type())
        : null;
  }

  /** A blob that cannot be linked has to be copied, which takes long: that is done later. */
  private void prepareChild(Attempt attempt) {
    JobType next = nextType(attempt);
    if (next == null
        || attempt.child() != null
        || attempt.followOn() != null
        || !(attempt.report() instanceof Report.Completed(Assignment assignment, Value result))) {
      return;
    }
    JobId id = store.newId();
    Value payload = result;
    if (result instanceof Value.Stored stored) {
      String name = JobRegistry.payloadName(id);
      payload = new Value.Stored(name, stored.size());
      try {
        if (!store.blobs().link(stored.name(), name)) {
          attempt.makeChildLater(new Job.FollowOn(next.name(), null));
          return;
        }
      } catch (BlobException e) {
        attempt.makeChildLater(new Job.FollowOn(next.name(), problem(e)));
        return;
      }
    }
    attempt.makeChild(followOns.child(assignment.job(), id, next, payload));
  }

  private void commit(Owner owner, List<Attempt> attempts) {
    if (attempts.stream().allMatch(attempt -> attempt.child() == null)) {
      commit(owner, attempts, null);
      return;
    }
    submitting.placing(plan -> {
      try {
        plan.clear(false);
        if (commit(owner, attempts, plan) instanceof Outcome.Done done) {
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

  /** Commits; {@code plan} has places for children, null if there are none. */
  private Outcome commit(Owner owner, List<Attempt> attempts, Batches.@Nullable Plan plan) {
    List<Batches.@Nullable Spot> spots = new ArrayList<>();
    for (Attempt attempt : attempts) {
      NewJob child = attempt.child();
      spots.add(child == null || plan == null ? null : plan.place(child.order().type()));
    }
    JobTransaction transaction = new JobTransaction(owner);
    if (plan != null) {
      plan.writeTo(transaction);
    }
    Attempt.Context context =
        new Attempt.Context(
            store.nowMillis(),
            options.maxFailures(),
            options.maxReturns(),
            groups,
            followOns.types()::policy);
    for (int i = 0; i < attempts.size(); i++) {
      attempts.get(i).writeTo(transaction, spots.get(i), context);
    }
    return take(store.commit(transaction), attempts);
  }

  private Outcome take(Outcome outcome, List<Attempt> attempts) {
    switch (outcome) {
      case Outcome.Done done -> {
        attempts.forEach(attempt -> attempt.stored(done, store));
        attempts.forEach(this::tell);
      }
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

  /** Logs what an operator should know. */
  private void tell(Attempt attempt) {
    if (!(attempt.settled() instanceof Settled.Accepted(Job job))) {
      return;
    }
    if (job.line().followOn() != null) {
      followOns.add(job);
    }
    if (attempt.report() instanceof Report.Returned(Assignment by, String reason)
        && reason != null) {
      String what = job.status() == JobStatus.FAILED ? "has failed for good" : "is offered again";
      LOG.info(
          "job {} {}: worker {} did not end it, return {} of {}: {}",
          job.id(),
          what,
          by.worker(),
          job.returns(),
          options.maxReturns(),
          reason);
    }
  }

  /** Deletes blobs that no job uses. */
  private void cleanUp(Attempt attempt) {
    NewJob child = attempt.child();
    boolean refused = attempt.settled() instanceof Settled.Refused;
    if (child != null
        && child.payload() instanceof Value.Stored stored
        && (refused || isRepeated(attempt, child))) {
      discard(stored.name());
    }
    if (refused
        && attempt.report()
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
      store.blobs().delete(blob);
    } catch (BlobException e) {
      LOG.warn("blob {} stays until it is swept: {}", blob, e.toString());
    }
  }
}
