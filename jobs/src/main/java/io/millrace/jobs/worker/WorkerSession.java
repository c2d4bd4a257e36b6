package io.millrace.jobs.worker;

import io.millrace.jobs.Assignment;
import io.millrace.jobs.JobId;
import io.millrace.jobs.worker.ActiveJobs.ActiveJob;
import io.millrace.jobs.worker.PolledWorkers.PolledLink;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The connection of one worker: its registration, its status and its jobs. It holds no rules of the
 * protocol. Guarded by the monitor of the {@link WorkerManager}.
 */
final class WorkerSession {
  /** The status that a worker has reported. */
  enum Status {
    UNKNOWN,
    READY,
    BUSY
  }

  private final String type;
  private final WorkerLink link;
  private final long openedNanos;
  private final long openedMillis;
  private final Map<JobId, ActiveJob> jobs = new LinkedHashMap<>();
  private @Nullable Registration registration;
  private @Nullable JobId announced;
  private Status status = Status.UNKNOWN;
  private boolean rejected;
  private boolean closed;
  private int reserved;
  private WorkerView.Tally tally = WorkerView.Tally.NONE;
  private long heardNanos;
  private long heardMillis;
  private long pingedNanos;
  private long askedNanos;

  /** The connection of a worker that has not registered yet. */
  WorkerSession(String type, WorkerLink link, long nowNanos, long nowMillis) {
    this.type = type;
    this.link = link;
    this.openedNanos = nowNanos;
    this.openedMillis = nowMillis;
    this.heardNanos = nowNanos;
    this.heardMillis = nowMillis;
    this.pingedNanos = nowNanos;
    this.askedNanos = nowNanos;
  }

  String type() {
    return type;
  }

  WorkerLink link() {
    return link;
  }

  /** Whether the worker asks over HTTP, so that nothing can be sent to it unasked. */
  boolean polled() {
    return link instanceof PolledLink;
  }

  /** Whether the worker does not wait: it is answered after one look for a job. */
  boolean looksOnce() {
    return link instanceof PolledLink answer && answer.once();
  }

  long openedNanos() {
    return openedNanos;
  }

  @Nullable Registration registration() {
    return registration;
  }

  void register(Registration given) {
    registration = given;
  }

  /** The token was wrong: nothing that the worker sends counts. */
  void reject() {
    rejected = true;
  }

  boolean rejected() {
    return rejected;
  }

  /** The connection is over: nothing that the worker has sent counts any more. */
  void close() {
    closed = true;
  }

  boolean closed() {
    return closed;
  }

  void heard(long nowNanos, long nowMillis) {
    heardNanos = nowNanos;
    heardMillis = nowMillis;
  }

  long heardNanos() {
    return heardNanos;
  }

  void ping(long nowNanos) {
    pingedNanos = nowNanos;
    link.ping();
  }

  long pingedNanos() {
    return pingedNanos;
  }

  void askStatus(long nowNanos) {
    askedNanos = nowNanos;
    link.say(WorkerMessages.ASK);
  }

  long askedNanos() {
    return askedNanos;
  }

  void status(Status reported) {
    status = reported;
  }

  Status status() {
    return status;
  }

  Map<JobId, ActiveJob> jobs() {
    return jobs;
  }

  /** The next binary message is the result of this job. */
  void announce(@Nullable JobId job) {
    announced = job;
  }

  @Nullable JobId announced() {
    return announced;
  }

  int capacity() {
    return registration == null ? 0 : registration.jobs();
  }

  /** Whether the worker knows the messages about single jobs. */
  boolean namesJobs() {
    return registration != null && registration.namesJobs();
  }

  /** How many more jobs the worker can be given. */
  int room() {
    return closed || status != Status.READY ? 0 : capacity() - jobs.size() - reserved;
  }

  /** Reserves a slot. */
  void reserve() {
    reserved++;
  }

  /** Releases a reserved slot. */
  void release() {
    reserved--;
  }

  void send(Assignment assignment) {
    if (link instanceof PolledLink answer) {
      answer.give(assignment);
    } else {
      link.send(assignment.job(), namesJobs() ? WorkerMessages.announce(assignment) : null);
    }
  }

  /** What the worker has done on this connection. */
  WorkerView.Tally tally() {
    return tally;
  }

  void count(WorkerView.Tally more) {
    tally = tally.plus(more);
  }

  /** The jobs whose reports still count. */
  List<Assignment> assignments() {
    return jobs.values().stream().filter(ActiveJob::counts).map(ActiveJob::assignment).toList();
  }

  /** The worker as it is listed, which has to have registered. */
  WorkerView view(Registration worker, WorkerView.Tally shown) {
    List<JobId> working = assignments().stream().map(each -> each.job().id()).toList();
    WorkerView.Seen seen = new WorkerView.Seen(openedMillis, heardMillis);
    return new WorkerView(worker.id(), worker.name(), type, state(), working, shown, seen);
  }

  WorkerView.State state() {
    if (closed) {
      return WorkerView.State.DISCONNECTED;
    }
    if (status == Status.UNKNOWN && jobs.isEmpty()) {
      return WorkerView.State.UNKNOWN;
    }
    return status == Status.READY && jobs.size() < capacity()
        ? WorkerView.State.READY
        : WorkerView.State.BUSY;
  }
}
