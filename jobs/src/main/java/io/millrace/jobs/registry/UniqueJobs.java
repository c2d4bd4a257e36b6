package io.millrace.jobs.registry;

import io.millrace.blobs.Value;
import io.millrace.jobs.Job;
import io.millrace.jobs.Job.Hold;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.jobs.Submission;
import io.millrace.jobs.registry.Submitting.NewJob;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Sha256;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.UniqueKey;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * The unique keys and the request ids of jobs. A key is a document that the transaction of a
 * submission writes at the version that was read: of two submissions with one key only one is
 * committed, and the other one reads again. Safe for use by any number of threads.
 */
final class UniqueJobs {
  private final JobStore store;

  UniqueJobs(JobStore store) {
    this.store = store;
  }

  /**
   * The document of a key.
   *
   * @param job the GUID of the job that holds it
   * @param until until when, in milliseconds since the epoch; 0 for as long as the job says
   */
  private record Holder(String job, long until) {
    static Holder of(Document document) {
      return Json.bound(document.body(), Holder.class);
    }

    boolean isOver(long nowMillis) {
      return until > 0 && until <= nowMillis;
    }
  }

  /**
   * The key that a new job is to hold; null if it is not unique.
   *
   * @param policy its settings and those of its type
   * @throws InvalidJobException if fields of the payload make the key, and there are none
   */
  static @Nullable Hold hold(Policy policy, Value payload, long nowMillis) {
    if (policy.isEmpty()) {
      return null;
    }
    Optional<UniqueKey> unique = policy.unique();
    if (unique.isEmpty()) {
      return null;
    }
    UniqueKey key = unique.get();
    ObjectNode fields = key.fields().isEmpty() ? null : fields(payload);
    String hash =
        key.hash(name -> fields == null || !fields.has(name) ? null : fields.path(name).toString());
    Duration period = key.period();
    return new Hold(hash, key.scope(), period == null ? 0 : nowMillis + period.toMillis());
  }

  /**
   * What remembers a submission for {@link JobRegistry#REQUEST_PERIOD}; null without a request id.
   *
   * @throws InvalidJobException if the id is too long
   */
  static @Nullable Hold request(@Nullable String id, long nowMillis) {
    if (id == null) {
      return null;
    }
    if (id.isEmpty() || id.length() > JobRegistry.MAX_REQUEST) {
      throw new InvalidJobException(
          "a request id has 1 to " + JobRegistry.MAX_REQUEST + " characters");
    }
    return new Hold(
        Sha256.hex("request " + id),
        UniqueKey.Scope.UNFINISHED,
        nowMillis + JobRegistry.REQUEST_PERIOD.toMillis());
  }

  private static ObjectNode fields(Value payload) {
    return Optional.of(payload)
        .filter(Value.Inline.class::isInstance)
        .flatMap(inline -> Json.object(((Value.Inline) inline).bytes()))
        .orElseThrow(() ->
            new InvalidJobException(
                "unique_fields needs a payload that is a JSON object of at most "
                    + Value.INLINE_LIMIT
                    + " bytes"));
  }

  /**
   * The key of a new job as it is in the store.
   *
   * @param version at which the job takes it
   * @param holder the job that holds it; null if it is free, or if that job is gone
   * @param gone the job that holds it and has left the store; null if it is free
   */
  record Found(long version, @Nullable Job holder, @Nullable JobId gone) {}

  /** Looks at the key that a new job is to hold. */
  Found find(NewJob job, Hold hold, long nowMillis) {
    Optional<Document> there = store.document(key(job.order(), hold));
    if (there.isEmpty()) {
      return new Found(DocumentVersion.ABSENT, null, null);
    }
    Holder holder = Holder.of(there.get());
    long version = there.get().version();
    if (holder.isOver(nowMillis)) {
      return new Found(version, null, null);
    }
    // The job itself may be there from an earlier call whose answer was lost.
    Optional<Job> own =
        store.entry(job.id()).map(StoredJob::job).filter(same -> same.order().equals(job.order()));
    JobId id = JobJson.id(holder.job());
    Job found =
        own.or(() -> id.equals(job.id()) ? own : store.entry(id).map(StoredJob::job)).orElse(null);
    return new Found(version, found, found == null ? id : null);
  }

  /** Has a new job take its key, at the version at which it was found free. */
  static void take(JobTransaction transaction, NewJob job, Hold hold, long version) {
    Holder holder = new Holder(job.id().toString(), hold.untilMillis());
    transaction.put(key(job.order(), hold), version, Json.bind(holder));
  }

  /** The document of a key that a job with this order holds. */
  static DocumentKey key(Submission order, Hold hold) {
    return Keys.unique(order.type(), hold.hash());
  }

  /** A job as it is to be written: without its key, which goes if the job leaves the scope. */
  static StoredJob released(StoredJob next, Transaction.Builder transaction) {
    Job job = next.job();
    Hold hold = job.place().hold();
    if (hold == null
        || hold.untilMillis() > 0
        || hold.scope().holds(job.times().started() != null, job.status().isEnd())) {
      return next;
    }
    transaction.delete(key(job.order(), hold), DocumentVersion.ANY);
    return next.with(Transitions.released(job));
  }

  /** Deletes the key of a job that is deleted, if the job still holds it. */
  void delete(JobTransaction transaction, Job job) {
    Hold hold = job.place().hold();
    if (hold == null) {
      return;
    }
    store
        .document(key(job.order(), hold))
        .filter(document -> Holder.of(document).job().equals(job.id().toString()))
        .ifPresent(document -> transaction.delete(document.key(), document.version()));
  }

  /**
   * Has a job that still holds its key hold it among the jobs of another type.
   *
   * @param to its order there
   * @param taken the hashes of the keys that were moved in this transaction
   * @return false if another job of that type holds the key; nothing was added
   */
  boolean move(JobTransaction transaction, Job job, Submission to, Set<String> taken) {
    Hold hold = job.place().hold();
    if (hold == null) {
      return true;
    }
    Document own =
        store
            .document(key(job.order(), hold))
            .filter(document -> Holder.of(document).job().equals(job.id().toString()))
            .orElse(null);
    if (own == null) {
      return true;
    }
    Document there = store.document(key(to, hold)).orElse(null);
    if ((there != null && !Holder.of(there).isOver(store.nowMillis())) || !taken.add(hold.hash())) {
      return false;
    }
    transaction.delete(own.key(), own.version());
    transaction.put(
        key(to, hold), there == null ? DocumentVersion.ABSENT : there.version(), own.body());
    return true;
  }

  /** Deletes keys whose period has ended. */
  void sweep(long nowMillis) {
    for (Document document : store.pages(Keys.UNIQUE)) {
      if (Holder.of(document).isOver(nowMillis)) {
        // Unless a new job has taken it.
        store.commit(
            Transaction.by(store.self()).delete(document.key(), document.version()).build());
      }
    }
  }
}
