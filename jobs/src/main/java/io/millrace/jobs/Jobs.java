package io.millrace.jobs;

import io.millrace.blobs.BlobStore;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.TaskStore;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * The jobs of a store: the entry of this module. Safe for use by any number of threads; there may
 * be several for one store.
 */
public final class Jobs implements AutoCloseable {
  private final Ledger ledger;
  private final JobTypes types;
  private final StoreJobRegistry registry;

  private Jobs(Ledger ledger, JobTypes types, JobsOptions options) {
    this.ledger = ledger;
    this.types = types;
    this.registry = new StoreJobRegistry(ledger, types, options);
  }

  /**
   * The jobs of {@code store}.
   *
   * @param blobs where payloads and results are kept that are too large for a commit
   * @param types the configured types, which are stored
   * @throws InvalidJobException when the types contradict what is stored, see {@link JobTypes}
   */
  public static Jobs open(
      TaskStore store,
      BlobStore blobs,
      JobTypes types,
      JobsOptions options,
      JobsEnvironment environment) {
    Ledger ledger = new Ledger(store, blobs, environment);
    new StoredTypes(ledger).settle(types);
    return new Jobs(ledger, types, options);
  }

  /** The registry. */
  public JobRegistry registry() {
    return registry;
  }

  /** The configured types. */
  public JobTypes types() {
    return types;
  }

  /** Begins to watch these jobs until they have ended; to be closed. */
  public JobWatch watch(Collection<JobId> jobs) {
    return JobWatch.begin(ledger, jobs);
  }

  /**
   * Begins a stream of changes of jobs, for one thread; to be closed.
   *
   * @param after the position of the last change known already; null begins now
   * @throws PositionLostException when that position cannot be served: look at all jobs again
   */
  public JobChanges changes(@Nullable Position after) {
    return JobChanges.begin(ledger, after);
  }

  /** What makes jobs of results when that could not be done at once. */
  public FollowOns followOns() {
    return registry.followOns();
  }

  /** What counts jobs. */
  public JobCensus census() {
    return new JobCensus(ledger);
  }

  /** What deletes what belongs to no job. */
  public JobSweeper sweeper() {
    return new JobSweeper(ledger);
  }

  /** Ends nothing that is stored; store and blobs stay open, they belong to whoever opened them. */
  @Override
  public void close() {}
}
