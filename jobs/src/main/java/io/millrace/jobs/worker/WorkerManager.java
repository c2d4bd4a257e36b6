package io.millrace.jobs.worker;

import io.millrace.blobs.BlobStore;
import io.millrace.jobs.Assignment;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobChange;
import io.millrace.jobs.JobId;
import io.millrace.jobs.Report;
import io.millrace.jobs.Report.Settled;
import io.millrace.jobs.WorkerId;
import io.millrace.jobs.worker.ActiveJobs.ActiveJob;
import io.millrace.store.TaskStore;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The workers that are or were connected, and the jobs that they work on. Its monitor guards it
 * with all its parts and is never held during I/O. The public methods take the monitor; the callers
 * of all other methods hold it, unless the method says otherwise.
 */
public final class WorkerManager implements Workers, WorkerPool {
  private final WorkerOptions options;
  private final InstantSource clock;
  private final LongSupplier nanos;
  private final ResultUpload upload;
  private final WorkerDirectory directory;
  private final ReadyWorkers ready = new ReadyWorkers();
  private final ActiveJobs active = new ActiveJobs();
  private final Reports reports;
  private final Heartbeats heartbeats;
  private volatile Runnable wake = () -> {};
  private volatile boolean used;

  /**
   * A manager without workers.
   *
   * @param store keeps what workers have done and when they were last connected
   * @param blobs keeps results
   * @param clock tells the times that people see
   * @param nanos a clock that never goes back, like {@link System#nanoTime}
   */
  public WorkerManager(
      WorkerOptions options,
      TaskStore store,
      BlobStore blobs,
      InstantSource clock,
      LongSupplier nanos) {
    this.options = options;
    this.clock = clock;
    this.nanos = nanos;
    this.upload = new ResultUpload(blobs);
    this.directory = new WorkerDirectory(store, options.tracking());
    this.reports = new Reports(directory);
    this.heartbeats = new Heartbeats(this, options);
  }

  // ---- for the server

  /** Whether any worker has ever connected; takes no lock. */
  public boolean isUsed() {
    return used;
  }

  /** Lists the workers that were known before the server started. Call it before any connects. */
  public void recall() {
    List<WorkerView> before = history().stored();
    synchronized (this) {
      history().list(before);
    }
  }

  /**
   * Stores what workers have done, and when they were last seen.
   *
   * @param exactly whether the last signs of life of connected workers are stored as they are;
   *     otherwise they lag by up to a minute
   */
  public void save(boolean exactly) {
    List<WorkerView> connected;
    synchronized (this) {
      connected = directory.connected();
    }
    history().save(connected, exactly);
  }

  @Override
  public WorkerConnection connect(String type, WorkerLink link) {
    return new WorkerProtocol(this, open(type, link));
  }

  @Override
  public synchronized List<WorkerView> list() {
    return directory.list();
  }

  @Override
  public Optional<WorkerView> find(String id) {
    Optional<WorkerView> listed;
    synchronized (this) {
      listed = directory.find(id);
    }
    return listed.or(() -> history().stored(id));
  }

  @Override
  public synchronized Optional<Progress> progress(JobId job) {
    return active.progress(job);
  }

  @Override
  public synchronized Progress.Updates progressSince(long number) {
    return active.progressSince(number);
  }

  /** How many connected and registered workers are in this state. */
  public synchronized int count(WorkerView.State state) {
    return directory.count(state);
  }

  /** Sets the observer of attempts; there is none at first. */
  public synchronized void observeBy(JobObserver observer) {
    reports.observeBy(observer);
  }

  // ---- for the dispatcher

  @Override
  public void wakeBy(Runnable call) {
    wake = call;
    call.run();
  }

  @Override
  public synchronized List<Report> takeReports() {
    return reports.take();
  }

  @Override
  public synchronized void settled(Report report, Settled outcome) {
    reports.settled(report, outcome);
  }

  @Override
  public synchronized Set<String> readyTypes() {
    return ready.types();
  }

  @Override
  public synchronized boolean needsAnswer(String type) {
    return ready.needsAnswer(type);
  }

  @Override
  public synchronized List<Slot> reserve(String type, int most, Predicate<WorkerId> wanted) {
    return ready.reserve(type, most, wanted);
  }

  @Override
  public synchronized void assign(Slot slot, Assignment assignment) {
    WorkerSession session = ReadyWorkers.session(slot);
    session.release();
    if (session.closed()) {
      report(session, new Report.Returned(assignment, null));
      return;
    }
    ActiveJob job = new ActiveJob(session, assignment, nanos());
    session.jobs().put(job.id(), job);
    active.add(job);
    updateReadiness(session);
    checkBy(nanos() + options.stuckAfter().toNanos());
    session.send(assignment);
    reports.begun(assignment, millis());
  }

  @Override
  public synchronized void release(Collection<Slot> slots) {
    for (Slot slot : slots) {
      WorkerSession session = ReadyWorkers.session(slot);
      session.release();
      if (session.looksOnce()) {
        end(session, WorkerLink.NORMAL, "there is no job");
        // More such workers may wait than slots were reserved.
        wake.run();
      } else {
        updateReadiness(session);
      }
    }
  }

  @Override
  public synchronized List<Assignment> activeAssignments() {
    return active.assignments();
  }

  @Override
  public synchronized void revoke(Collection<Assignment> assignments) {
    for (Assignment assignment : assignments) {
      ActiveJob job = active.find(assignment);
      if (job != null) {
        revoke(job, WorkerProtocol.REVOKED);
      }
    }
  }

  @Override
  public synchronized void changed(JobChange change) {
    ActiveJob job = active.find(change.id());
    if (job == null || !job.counts()) {
      return;
    }
    Assignment mine = job.assignment();
    Job now = change.present();
    boolean older = now != null && now.place().version() <= mine.job().place().version();
    if (!older && (now == null || !mine.claim().equals(now.hand().claim()))) {
      revoke(job, WorkerProtocol.REVOKED);
    }
  }

  @Override
  public synchronized Instant step(Instant now) {
    return now.plusNanos(heartbeats.step(directory, nanos()));
  }

  // ---- for connections

  long nanos() {
    return nanos.getAsLong();
  }

  long millis() {
    return clock.millis();
  }

  ResultUpload upload() {
    return upload;
  }

  WorkerHistory history() {
    return directory.history();
  }

  ActiveJobs active() {
    return active;
  }

  Reports reports() {
    return reports;
  }

  boolean isRight(Registration registration) {
    return options.token().test(registration.token());
  }

  /** Opens a session, which has to register in time. */
  synchronized WorkerSession open(String type, WorkerLink link) {
    WorkerSession session = new WorkerSession(type, link, nanos(), millis());
    directory.add(session);
    used = true;
    checkBy(nanos() + options.registration().toNanos());
    return session;
  }

  private void checkBy(long dueNanos) {
    if (heartbeats.checkBy(dueNanos)) {
      wake.run();
    }
  }

  void register(WorkerSession session, Registration registration) {
    session.register(registration);
    directory.registered(session, registration);
    if (session.polled()) {
      session.status(WorkerSession.Status.READY);
    } else {
      session.askStatus(nanos());
    }
    updateReadiness(session);
  }

  void heard(WorkerSession session) {
    session.heard(nanos(), millis());
  }

  /** Notes whether a worker has room for a job, which may have changed. */
  void updateReadiness(WorkerSession session) {
    if (ready.update(session)) {
      wake.run();
    }
  }

  /** Notes the progress of a job, which is a sign of life too. */
  void progress(ActiveJob job, Progress progress) {
    job.progress(progress, nanos());
    active.progressed(job);
  }

  /** Queues a report for the registry; the worker hears what becomes of it. */
  void report(WorkerSession session, Report report) {
    reports.add(session, report);
    wake.run();
  }

  /** Fails a job whose payload is missing, by no fault of its worker. */
  void missing(ActiveJob job) {
    if (job.counts()) {
      job.finish();
      Failure failure = new Failure(null, millis(), "its payload is not there", null);
      reports.addUnheard(new Report.Failed(job.assignment(), failure));
      wake.run();
    }
    forget(job);
  }

  /** Forgets a job that was never sent to its worker, and will not be. */
  void forget(ActiveJob job) {
    free(job);
    job.session().jobs().remove(job.id());
    updateReadiness(job.session());
  }

  /** Takes a job from a worker that seems to be stuck, which counts as a failure. */
  void takeBack(ActiveJob job, String reason) {
    Failure failure = new Failure(job.assignment().worker(), millis(), reason, null);
    report(job.session(), new Report.Failed(job.assignment(), failure));
    revoke(job, reason);
  }

  /**
   * Takes a job from its worker. A worker that does not know the messages about single jobs is told
   * once it says something of the job.
   */
  private void revoke(ActiveJob job, String reason) {
    job.revoke();
    WorkerSession session = job.session();
    if (session.namesJobs()) {
      reports.tell(session, job.assignment(), reason);
    }
    free(job);
  }

  /** Ends the work on a job. A worker that asks over HTTP is connected for one job only. */
  void free(ActiveJob job) {
    active.remove(job);
    if (job.session().polled()) {
      disconnected(job.session(), null);
    }
  }

  /** Ends a connection. */
  void end(WorkerSession session, int code, String reason) {
    session.link().close(code, reason);
    disconnected(session, "the server closed its connection: " + reason);
  }

  /**
   * A connection is over: the jobs of its worker are offered again.
   *
   * @param fault how it ended, so that each job that the worker had counts as returned; null if
   *     nobody is to blame
   */
  void disconnected(WorkerSession session, @Nullable String fault) {
    if (!directory.remove(session)) {
      return;
    }
    for (ActiveJob job : session.jobs().values()) {
      if (job.counts()) {
        boolean had = session.polled() || job.wasSent();
        report(session, new Report.Returned(job.assignment(), had ? fault : null));
      }
      active.remove(job);
    }
    session.jobs().clear();
    session.close();
    updateReadiness(session);
    directory.remember(session);
  }

  /**
   * Options of the worker manager.
   *
   * @param registration how long a connection may stay unregistered; default 5 s
   * @param token whether a registration token is right; has to take constant time
   * @param tracking whether what a worker has done is counted over all its connections, by its own
   *     id
   * @param stuckAfter after how long without progress or status the worker is asked about a job;
   *     default 60 s
   * @param keepalive how often a connection is pinged; default 20 s. One that shows no sign of life
   *     for three times as long is closed, unless its worker has a job: then {@code stuckAfter}
   *     decides
   */
  public record WorkerOptions(
      Duration registration,
      Predicate<String> token,
      boolean tracking,
      Duration stuckAfter,
      Duration keepalive) {}
}
