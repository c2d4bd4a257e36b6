package io.millrace.jobs.registry;

import io.millrace.blobs.Value;
import io.millrace.jobs.Assignment;
import io.millrace.jobs.Batch;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobRegistry.JobFilter;
import io.millrace.jobs.JobTypes;
import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.jobs.Report;
import io.millrace.jobs.Report.Settled;
import io.millrace.jobs.Submission;
import io.millrace.jobs.WorkerId;
import io.millrace.jobs.registry.Submitting.NewJob;
import io.millrace.jobs.registry.Submitting.NewJob.Holds;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.Outcome;
import io.millrace.store.Task;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.TaskStore.DocumentQuery.Order;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.Transaction;
import io.millrace.work.DelayedTasks;
import io.millrace.work.DelayedTasks.Delays;
import io.millrace.work.filter.BytePattern;
import io.millrace.work.filter.Prefilter;
import io.millrace.work.policy.Policy;
import java.io.InputStream;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The registry over a store: reads are here, changes in its parts. */
final class StoreJobRegistry implements JobRegistry {
  /** How many documents are read at a time. */
  private static final int PAGE = 500;

  private final JobStore store;
  private final JobTypes types;
  private final TypeSettings settings;
  private final Groups groups;
  private final Submitting submitting;
  private final UserActions userActions;
  private final Assigning assigning;
  private final Leases leases;
  private final Settling settling;
  private final FollowOns followOns;

  StoreJobRegistry(JobStore store, JobTypes types, TypeSettings settings, Jobs.Options options) {
    this.store = store;
    this.types = types;
    this.settings = settings;
    this.groups = new Groups(store);
    this.submitting = new Submitting(store, options.batchSize());
    this.userActions = new UserActions(store);
    this.assigning = new Assigning(store, groups, settings, options.lease());
    this.leases = new Leases(store, options.lease());
    this.followOns = new FollowOns(store, submitting, types, settings);
    this.settling = new Settling(store, submitting, groups, options, followOns);
  }

  FollowOns followOns() {
    return followOns;
  }

  @Override
  public JobId newId() {
    return store.newId();
  }

  @Override
  public Job submit(JobId id, Submission submission, Value payload, @Nullable String request) {
    JobRegistry.checkSize(payload);
    return submitting.submit(unique(id, submission, payload, request));
  }

  @Override
  public Job submitOnce(
      JobId id, Submission submission, Value payload, Job.@Nullable Scheduled run) {
    types.require(submission.type());
    JobRegistry.checkSize(payload);
    Submission order = settings.inLane(submission, payload);
    return submitting.submit(
        new NewJob(id, order, payload, null, run, store.nowMillis(), Holds.NONE, settings(order)));
  }

  @Override
  public CompletableFuture<Job> enqueue(
      JobId id, Submission submission, Value.Inline payload, @Nullable String request) {
    return submitting.enqueue(unique(id, submission, payload, request));
  }

  private NewJob unique(JobId id, Submission submission, Value payload, @Nullable String request) {
    types.require(submission.type());
    long now = store.nowMillis();
    Submission order = settings.inLane(submission, payload);
    Policy policy = settings(order);
    Holds holds =
        new Holds(UniqueJobs.hold(policy, payload, now), UniqueJobs.request(request, now));
    return new NewJob(id, order, payload, null, null, now, holds, policy);
  }

  private Policy settings(Submission submission) {
    return submission.policy().over(settings.policy(submission.type()));
  }

  /** See {@link Jobs#timeouts}. */
  JobTimeouts timeouts() {
    return new JobTimeouts(store, userActions, settling);
  }

  /** See {@link Jobs#bulk}. */
  BulkJobs bulk() {
    return new BulkJobs(store, types, settings, groups);
  }

  /** See {@link Jobs#submitWith}. */
  boolean submitWith(
      Map<JobId, Job.Scheduled> runs,
      Function<Job.Scheduled, Submission> submissions,
      Function<JobId, Value> payloads,
      Function<Transaction.Builder, Outcome.@Nullable Done> commit) {
    long now = store.nowMillis();
    List<NewJob> jobs = new ArrayList<>();
    runs.forEach((id, run) -> {
      Submission submission = submissions.apply(run);
      types.require(submission.type());
      Value payload = payloads.apply(id);
      Submission order = settings.inLane(submission, payload);
      jobs.add(new NewJob(id, order, payload, null, run, now, Holds.NONE, settings(order)));
    });
    return submitting.submitWith(jobs, commit);
  }

  @Override
  public void flush() {
    submitting.flush();
  }

  @Override
  public boolean isFree(String key) {
    return store.document(Keys.name(key)).isEmpty();
  }

  @Override
  public Optional<Job> find(String keyOrId) {
    return stored(keyOrId).map(StoredJob::job);
  }

  @Override
  public Optional<InputStream> payload(Job job) {
    return store.payload(job);
  }

  @Override
  public Optional<InputStream> result(Job job) {
    return store.result(job);
  }

  @Override
  public Optional<URI> payloadLink(Job job) {
    return store.payloadLink(job);
  }

  @Override
  public Optional<URI> resultLink(Job job) {
    return store.resultLink(job);
  }

  @Override
  public Optional<Job> delete(String keyOrId) {
    return userActions.delete(() -> stored(keyOrId));
  }

  @Override
  public Optional<Job> cancel(String keyOrId) {
    return userActions.cancel(() -> stored(keyOrId));
  }

  @Override
  public Optional<Job> retry(String keyOrId) {
    return userActions.retry(() -> stored(keyOrId));
  }

  @Override
  public List<Assignment> assign(String type, List<WorkerId> workers) {
    types.require(type);
    return assigning.assign(type, workers);
  }

  @Override
  public boolean hasFailed(String type) {
    return !groups.failed(type).isEmpty();
  }

  @Override
  public boolean isLimited(String type) {
    return settings.isLimited(type);
  }

  @Override
  public Optional<Duration> pauseForLimits(String type) {
    if (!settings.isLimited(type)) {
      return Optional.empty();
    }
    List<String> all = new ArrayList<>(Groups.waiting(type));
    all.addAll(groups.failed(type));
    return settings.pause(type, all);
  }

  @Override
  public void awaitRoom(String type, Runnable whenDone) {
    if (settings.sharesLimits(type)) {
      assigning.await(type, whenDone);
    }
  }

  @Override
  public void giveBackAwaited(String type) {
    assigning.giveBackAwaited(type);
  }

  @Override
  public Duration delay(Job job) {
    return Duration.ofMillis(Math.max(0, job.waiting().notBeforeMillis() - store.nowMillis()));
  }

  @Override
  public Map<String, Delays> delays() {
    Map<String, Delays> byType = new HashMap<>();
    DelayedTasks.read(store.store(), group -> group.startsWith(Groups.PREFIX))
        .forEach((group, delays) -> byType.merge(Groups.type(group), delays, Delays::and));
    return byType;
  }

  @Override
  public List<Assignment> renew(List<Assignment> assignments) {
    return leases.renew(assignments);
  }

  @Override
  public List<Settled> settle(List<Report> reports) {
    return settling.settle(reports);
  }

  @Override
  public Optional<Job> completedBy(String keyOrId, long token) {
    return lastBy(keyOrId, new StoredJob.Last(token, StoredJob.Kind.COMPLETED));
  }

  @Override
  public Optional<Job> failedBy(String keyOrId, long token) {
    return lastBy(keyOrId, new StoredJob.Last(token, StoredJob.Kind.FAILED));
  }

  private Optional<Job> lastBy(String keyOrId, StoredJob.Last last) {
    return stored(keyOrId).filter(entry -> last.equals(entry.last())).map(StoredJob::job);
  }

  @Override
  public int returnAll() {
    return leases.returnAll();
  }

  private Optional<StoredJob> stored(String keyOrId) {
    if (keyOrId.isEmpty() || keyOrId.length() > Submission.MAX_KEY) {
      return Optional.empty();
    }
    Optional<JobId> id = JobId.parse(keyOrId);
    if (id.isPresent()) {
      return store.entry(id.get());
    }
    return store
        .document(Keys.name(keyOrId))
        .flatMap(name -> store.entry(JobJson.id(name.body().utf8())));
  }

  @Override
  public List<Job> list(JobFilter filter, @Nullable JobId after, int limit, Order order) {
    if (limit < 1) {
      throw new InvalidJobException("limit is at least 1, not " + limit);
    }
    String begin = after == null ? "" : after.toString();
    Long batch = filter.batch();
    return batch == null
        ? all(filter, begin, limit, order)
        : ofBatch(batch, filter, begin, limit, order);
  }

  private List<Job> all(JobFilter filter, String after, int limit, Order order) {
    Predicate<Bytes> mayMatch = mayMatch(filter.text());
    List<BytePattern> fields = JobJson.written(filter).stream().map(BytePattern::of).toList();
    Iterator<Job> jobs =
        store.scan(
            new DocumentQuery(Keys.JOBS, "", after, PAGE, order),
            Long.MAX_VALUE,
            document -> {
              // The GUID of a job is not in its document.
              boolean may =
                  hasAll(document.body(), fields)
                      && (mayMatch.test(document.body())
                          || mayMatch.test(Bytes.of(document.key().key())));
              Job job = may ? JobJson.readJob(document).job() : null;
              return job != null && filter.matches(job) ? job : null;
            });
    List<Job> found = new ArrayList<>();
    while (found.size() < limit && jobs.hasNext()) {
      found.add(jobs.next());
    }
    return found;
  }

  private static Predicate<Bytes> mayMatch(@Nullable String text) {
    return text == null ? _ -> true : Prefilter.containing(text);
  }

  private static boolean hasAll(Bytes document, List<BytePattern> parts) {
    for (BytePattern part : parts) {
      if (!part.isIn(document)) {
        return false;
      }
    }
    return true;
  }

  /** The members' keys lead to the jobs, since a batch may be a small part of them all. */
  private List<Job> ofBatch(long batch, JobFilter filter, String after, int limit, Order order) {
    if (!Batch.isNumber(batch)) {
      return List.of();
    }
    String prefix = Keys.members(batch);
    String begin = after.isEmpty() ? "" : prefix + after;
    Iterator<Document> members =
        store.pages(new DocumentQuery(Keys.MEMBERS, prefix, begin, PAGE, order)).iterator();
    List<Job> found = new ArrayList<>();
    while (found.size() < limit && members.hasNext()) {
      List<JobId> ids = new ArrayList<>();
      while (ids.size() < limit - found.size() && members.hasNext()) {
        ids.add(JobJson.id(members.next().key().key().substring(prefix.length())));
      }
      present(ids).stream().filter(filter::matches).forEach(found::add);
    }
    return found;
  }

  @Override
  public List<Failure> failures(JobId id) {
    return attempts(Keys.FAILURES, id);
  }

  @Override
  public List<Failure> returns(JobId id) {
    return attempts(Keys.RETURNS, id);
  }

  private List<Failure> attempts(String collection, JobId id) {
    List<Failure> attempts = new ArrayList<>();
    for (Document each : store.pages(collection, Keys.failures(id), "")) {
      attempts.add(JobJson.readFailure(each));
    }
    return attempts;
  }

  @Override
  public Optional<Batch> batch(long id) {
    return Batch.isNumber(id)
        ? store.document(Keys.batch(id)).map(JobJson::readBatch)
        : Optional.empty();
  }

  @Override
  public List<Batch> batches(long after, int limit, Order order) {
    if (limit < 1) {
      throw new InvalidJobException("limit is at least 1, not " + limit);
    }
    String last = after == 0 ? "" : Keys.padded(Math.clamp(after, 0, 1L << 53));
    return store
        .store()
        .documents(new DocumentQuery(Keys.BATCHES, "", last, limit, order))
        .value()
        .stream()
        .map(JobJson::readBatch)
        .toList();
  }

  @Override
  public List<Job> jobsOf(Batch batch) {
    record Member(int index, JobId id) {}
    String prefix = Keys.members(batch.id());
    List<Member> members = new ArrayList<>();
    for (Document each : store.pages(Keys.MEMBERS, prefix, "")) {
      JobId id = JobJson.id(each.key().key().substring(prefix.length()));
      members.add(new Member(Integer.parseInt(each.body().utf8()), id));
    }
    members.sort(Comparator.comparingInt(Member::index));
    return present(members.stream().map(Member::id).toList());
  }

  @Override
  public List<Job> next(String type, int most) {
    types.require(type);
    if (most < 1) {
      throw new InvalidJobException("at least 1 job is asked for, not " + most);
    }
    List<String> all = new ArrayList<>(Groups.waiting(type));
    all.addAll(groups.failed(type));
    List<JobId> ids = new ArrayList<>();
    for (String group : all) {
      if (ids.size() == most) {
        break;
      }
      GroupQuery query = GroupQuery.waiting(group).withLimit(most - ids.size());
      for (Task task : store.store().group(query).value()) {
        JobStore.job(task).ifPresent(ids::add);
      }
    }
    return present(ids);
  }

  private List<Job> present(List<JobId> ids) {
    Map<JobId, StoredJob> entries = store.entries(ids);
    return ids.stream().map(entries::get).filter(Objects::nonNull).map(StoredJob::job).toList();
  }
}
