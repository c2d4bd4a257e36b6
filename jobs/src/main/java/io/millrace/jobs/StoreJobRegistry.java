package io.millrace.jobs;

import io.millrace.blobs.Value;
import java.io.InputStream;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The registry over a store; its parts do the work. */
final class StoreJobRegistry implements JobRegistry {
  private final Ledger ledger;
  private final JobTypes types;
  private final Groups groups;
  private final Listing listing;
  private final Contents contents;
  private final Submitting submitting;
  private final Removing removing;
  private final Assigning assigning;
  private final Renewing renewing;
  private final Settling settling;
  private final FollowOns followOns;

  StoreJobRegistry(Ledger ledger, JobTypes types, JobsOptions options) {
    Batches batches = new Batches(ledger, options.batchSize());
    this.ledger = ledger;
    this.types = types;
    this.groups = new Groups(ledger);
    this.listing = new Listing(ledger, groups);
    this.contents = new Contents(ledger);
    this.submitting = new Submitting(ledger, batches);
    this.removing = new Removing(ledger);
    this.assigning = new Assigning(ledger, groups, options.lease());
    this.renewing = new Renewing(ledger, options.lease());
    this.followOns = new FollowOns(ledger, batches, types);
    this.settling = new Settling(ledger, batches, groups, options, followOns);
  }

  FollowOns followOns() {
    return followOns;
  }

  @Override
  public JobId newId() {
    return ledger.newId();
  }

  @Override
  public Job submit(JobId id, Submission submission, Value payload) {
    types.require(submission.type());
    Contents.check(payload);
    return submitting.submit(new NewJob(id, submission, payload, null, ledger.nowMillis()));
  }

  @Override
  public CompletableFuture<Job> enqueue(JobId id, Submission submission, Value.Inline payload) {
    types.require(submission.type());
    return submitting.enqueue(new NewJob(id, submission, payload, null, ledger.nowMillis()));
  }

  @Override
  public void flush() {
    submitting.flush();
  }

  @Override
  public boolean isFree(String key) {
    return ledger.document(Keys.name(key)).isEmpty();
  }

  @Override
  public Optional<Job> find(String keyOrId) {
    return listing.find(keyOrId).map(Entry::job);
  }

  @Override
  public List<Job> list(JobFilter filter, @Nullable JobId after, int limit) {
    return listing.list(filter, after, limit);
  }

  @Override
  public List<Failure> failures(JobId id) {
    return listing.failures(id);
  }

  @Override
  public List<Failure> returns(JobId id) {
    return listing.returns(id);
  }

  @Override
  public Optional<InputStream> payload(Job job) {
    return contents.payload(job);
  }

  @Override
  public Optional<InputStream> result(Job job) {
    return contents.result(job);
  }

  @Override
  public Optional<Job> delete(String keyOrId) {
    return removing.delete(() -> listing.find(keyOrId));
  }

  @Override
  public Optional<Job> cancel(String keyOrId) {
    return removing.cancel(() -> listing.find(keyOrId));
  }

  @Override
  public Optional<Job> retry(String keyOrId) {
    return removing.retry(() -> listing.find(keyOrId));
  }

  @Override
  public Optional<Batch> batch(long id) {
    return listing.batch(id);
  }

  @Override
  public List<Batch> batches(long after, int limit) {
    return listing.batches(after, limit);
  }

  @Override
  public List<Job> jobsOf(Batch batch) {
    return listing.jobsOf(batch.id());
  }

  @Override
  public List<Job> next(String type, int most) {
    types.require(type);
    return listing.next(type, most);
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
  public List<Assignment> renew(List<Assignment> assignments) {
    return renewing.renew(assignments);
  }

  @Override
  public List<Settled> settle(List<Report> reports) {
    return settling.settle(reports);
  }

  @Override
  public Optional<Job> completedBy(String keyOrId, long token) {
    return lastBy(keyOrId, new Entry.Last(token, Entry.Kind.COMPLETED));
  }

  @Override
  public Optional<Job> failedBy(String keyOrId, long token) {
    return lastBy(keyOrId, new Entry.Last(token, Entry.Kind.FAILED));
  }

  private Optional<Job> lastBy(String keyOrId, Entry.Last last) {
    return listing.find(keyOrId).filter(entry -> last.equals(entry.last())).map(Entry::job);
  }

  @Override
  public int returnAll() {
    return new Returning(ledger).returnAll();
  }
}
