package io.millrace.jobs.registry;

import io.millrace.blobs.BlobException;
import io.millrace.blobs.BlobStream;
import io.millrace.blobs.Value;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobTypes;
import io.millrace.jobs.JobTypes.JobType;
import io.millrace.jobs.JobsException;
import io.millrace.jobs.Submission;
import io.millrace.jobs.registry.Submitting.NewJob;
import io.millrace.store.Document;
import io.millrace.store.Outcome;
import io.millrace.store.StoreException;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.work.Backoff;
import io.millrace.work.Step;
import io.millrace.work.policy.Policy;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the follow-on jobs that could not be made in the commit of their results, since the result
 * has to be copied or something is wrong with it. The result itself is stored already. A job that
 * cannot be made is tried again after a second, then after twice as long each time, up to ten
 * minutes; the problem is kept with the job of the result.
 *
 * <p>Step-driven: {@link #step} is for one thread and blocks while it copies; all else may be
 * called by any. There may be several for one store.
 */
public final class FollowOns implements Step {
  private static final Logger LOG = LoggerFactory.getLogger(FollowOns.class);
  private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(10);

  /** How often it looks for follow-on jobs that another process has left. */
  private static final Duration LOOK_EVERY = Duration.ofMinutes(1);

  private final JobStore store;
  private final Submitting submitting;
  private final JobTypes types;
  private final TypeSettings settings;
  private final Map<JobId, Retry> retries = new HashMap<>();
  private volatile Runnable wake = () -> {};
  private volatile boolean stopped;

  FollowOns(JobStore store, Submitting submitting, JobTypes types, TypeSettings settings) {
    this.store = store;
    this.submitting = submitting;
    this.types = types;
    this.settings = settings;
  }

  /** When a follow-on job is tried again. */
  private static final class Retry {
    private final Backoff backoff = new Backoff(FIRST_PAUSE, LONGEST_PAUSE);
    private Instant due = Instant.MIN;
  }

  JobTypes types() {
    return types;
  }

  /** The job that a result becomes; its payload is kept already. */
  NewJob child(Job parent, JobId id, JobType type, Value payload) {
    Submission order =
        settings.ofChild(
            new Submission(type.name(), parent.order().priority(), null, null), parent);
    Policy policy = order.policy().over(settings.policy(type.name()));
    return new NewJob(id, order.in(parent.span()), payload, parent.id(), store.nowMillis(), policy);
  }

  /** Sets what is called, by any thread and quickly, when a step is due before its time. */
  public void wakeBy(Runnable call) {
    wake = call;
  }

  /** A job is done, and another is to be made of its result. */
  void add(Job job) {
    Job.FollowOn followOn = job.line().followOn();
    if (followOn != null && followOn.problem() != null) {
      warn(job, followOn);
    }
    wake.run();
  }

  private static void warn(Job job, Job.FollowOn followOn) {
    LOG.warn(
        "the result of job {} is stored, but no {} job can be made of it yet; this is tried again:"
            + " {}",
        job.id(),
        followOn.type(),
        followOn.problem());
  }

  /** Breaks off the copy under way and makes no more: {@link #step} returns soon. */
  public void stop() {
    stopped = true;
  }

  @Override
  public Instant step(Instant now) {
    List<JobId> pending = new ArrayList<>();
    for (Document document : store.pages(Keys.FOLLOW_ONS)) {
      pending.add(JobJson.id(document.key().key()));
    }
    retries.keySet().retainAll(pending);
    Instant next = now.plus(LOOK_EVERY);
    for (JobId id : pending) {
      Retry retry = retries.computeIfAbsent(id, _ -> new Retry());
      if (!stopped && !retry.due.isAfter(now)) {
        if (make(id)) {
          retries.remove(id);
          continue;
        }
        retry.due = now.plus(retry.backoff.next());
      }
      next = retry.due.isBefore(next) ? retry.due : next;
    }
    return stopped ? FINISHED : next;
  }

  /** Whether nothing is left to do. */
  private boolean make(JobId id) {
    try {
      return store.retry("a job with a follow-on job", () -> tryToMake(id));
    } catch (StoreException e) {
      throw e;
    } catch (RuntimeException e) {
      if (!stopped) {
        note(id, Settling.problem(e));
      }
      return false;
    }
  }

  /**
   * True when it is made, or none is to be made any more; null when something changed meanwhile.
   */
  private @Nullable Boolean tryToMake(JobId id) {
    StoredJob entry = store.entry(id).orElse(null);
    Job.FollowOn followOn = entry == null ? null : entry.job().line().followOn();
    if (entry == null || followOn == null) {
      Transaction.Builder transaction = Transaction.by(store.self());
      transaction.delete(Keys.followOn(id), DocumentVersion.ANY);
      store.commit(transaction.build());
      return true;
    }
    Job parent = entry.job();
    JobType type = types.find(followOn.type()).orElse(null);
    if (type == null) {
      throw new JobsException("there is no job type " + followOn.type() + " any more");
    }
    JobId childId = store.newId();
    NewJob child = child(parent, childId, type, payload(parent, childId));
    boolean made = false;
    try {
      made = commit(entry, child);
    } catch (JobsException e) {
      discard(child);
      throw e;
    }
    if (!made) {
      discard(child);
      return null;
    }
    if (followOn.problem() != null) {
      LOG.info("job {} has been made of the result of job {}", childId, id);
    }
    return true;
  }

  private boolean commit(StoredJob parent, NewJob child) {
    Job followed = Transitions.followed(parent.job(), child.id(), null);
    JobId id = parent.job().id();
    return submitting.placing(plan -> {
      try {
        plan.clear(false);
        JobTransaction transaction = new JobTransaction(store.self());
        Batches.Spot spot = plan.place(child.order().type());
        plan.writeTo(transaction);
        transaction.put(parent.with(followed));
        transaction.delete(Keys.followOn(id), DocumentVersion.ANY);
        child.writeTo(transaction, spot);
        if (store.commit(transaction) instanceof Outcome.Done outcome) {
          plan.stored(outcome);
          return true;
        }
        plan.clear(true);
        return false;
      } catch (RuntimeException e) {
        plan.clear(true);
        throw e;
      }
    });
  }

  private Value payload(Job parent, JobId child) {
    Long size = parent.content().result();
    if (size == null) {
      throw new JobsException("the job has no result");
    }
    if (JobStore.isInline(size)) {
      return inline(parent);
    }
    String from =
        store
            .resultBlob(parent.id())
            .orElseThrow(() -> new JobsException("the result is not there"));
    String to = JobRegistry.payloadName(child);
    if (store.blobs().link(from, to)) {
      return new Value.Stored(to, size);
    }
    try (BlobStream bytes = store.blobs().open(from)) {
      return new Value.Stored(to, store.blobs().put(to, new Stoppable(bytes)).size());
    } catch (IOException e) {
      throw new BlobException("blob " + from + " cannot be copied: " + e, e);
    }
  }

  private Value inline(Job parent) {
    Optional<InputStream> result = store.result(parent);
    try (InputStream bytes =
        result.orElseThrow(() -> new JobsException("the result is not there"))) {
      return new Value.Inline(bytes.readAllBytes());
    } catch (IOException e) {
      throw new JobsException("the result cannot be read: " + e, e);
    }
  }

  /** Keeps a problem with the job, once, and logs it. */
  private void note(JobId id, String problem) {
    try {
      StoredJob entry = store.entry(id).orElse(null);
      Job.FollowOn followOn = entry == null ? null : entry.job().line().followOn();
      if (entry == null || followOn == null || problem.equals(followOn.problem())) {
        return;
      }
      Job.FollowOn now = new Job.FollowOn(followOn.type(), problem);
      Job noted = Transitions.followed(entry.job(), null, now);
      JobTransaction transaction = new JobTransaction(store.self());
      transaction.put(entry.with(noted));
      if (store.commit(transaction) instanceof Outcome.Done) {
        warn(noted, now);
      }
    } catch (JobsException e) {
      LOG.warn("the result of job {} becomes no job yet: {}; {}", id, problem, e.getMessage());
    }
  }

  private void discard(NewJob child) {
    if (child.payload() instanceof Value.Stored(String name, long _)) {
      try {
        store.blobs().delete(name);
      } catch (BlobException e) {
        LOG.warn("blob {} stays until it is swept: {}", name, e.toString());
      }
    }
  }

  /** A stream that fails when nothing more is to be made. */
  private final class Stoppable extends FilterInputStream {
    Stoppable(InputStream source) {
      super(source);
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      if (stopped) {
        throw new IOException("the server stops");
      }
      return super.read(target, offset, length);
    }
  }
}
