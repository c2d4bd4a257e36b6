package io.millrace.jobs.worker;

import io.millrace.jobs.Assignment;
import io.millrace.jobs.JobId;
import io.millrace.jobs.worker.WorkerView.Seen;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One connected worker: who it is, what it said last, and what it has in hand. Holds no rules of
 * the protocol; guarded by the lock of its {@link WorkerManager}.
 */
final class Post {
  /** What a worker has said of itself. */
  enum Said {
    NOTHING,
    READY,
    BUSY
  }

  private final String type;
  private final WorkerLink link;
  private final boolean polled;
  private final long openedNanos;
  private final long openedMillis;
  private final Map<JobId, Held> jobs = new LinkedHashMap<>();
  private @Nullable Registration registration;
  private @Nullable JobId announced;
  private Said said = Said.NOTHING;
  private boolean rejected;
  private boolean closed;
  private int reserved;
  private WorkerView.Tally tally = WorkerView.Tally.NONE;
  private long heardNanos;
  private long heardMillis;
  private long pingedNanos;
  private long askedNanos;

  /**
   * A worker that has not registered.
   *
   * @param polled whether it asks over HTTP, so that nothing can be said to it unasked
   */
  Post(String type, WorkerLink link, boolean polled, long nowNanos, long nowMillis) {
    this.type = type;
    this.link = link;
    this.polled = polled;
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

  boolean polled() {
    return polled;
  }

  long openedNanos() {
    return openedNanos;
  }

  @Nullable Registration registration() {
    return registration;
  }

  void register(Registration who) {
    registration = who;
  }

  /** It came with a wrong token: nothing that it says counts. */
  void reject() {
    rejected = true;
  }

  boolean rejected() {
    return rejected;
  }

  /** Nothing that it says counts any more. */
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

  /** Asks for its status. */
  void ask(long nowNanos) {
    askedNanos = nowNanos;
    link.say(ServerMessages.ASK);
  }

  long askedNanos() {
    return askedNanos;
  }

  void say(Said status) {
    said = status;
  }

  Said said() {
    return said;
  }

  Map<JobId, Held> jobs() {
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

  /** Whether it knows the messages about single jobs. */
  boolean told() {
    return registration != null && registration.told();
  }

  int room() {
    return closed || said != Said.READY ? 0 : capacity() - jobs.size() - reserved;
  }

  void reserve() {
    reserved++;
  }

  void leave() {
    reserved--;
  }

  /** What it has done on this connection. */
  WorkerView.Tally tally() {
    return tally;
  }

  void count(WorkerView.Tally more) {
    tally = tally.plus(more);
  }

  /** The jobs that count as its own. */
  List<Assignment> assignments() {
    return jobs.values().stream().filter(Held::counts).map(Held::assignment).toList();
  }

  /** How it is listed; it has registered. */
  WorkerView view(Registration who, WorkerView.Tally tally) {
    List<JobId> inHand = assignments().stream().map(held -> held.job().id()).toList();
    return new WorkerView(
        who.id(), who.name(), type, state(), inHand, tally, new Seen(openedMillis, heardMillis));
  }

  private WorkerState state() {
    if (closed) {
      return WorkerState.DISCONNECTED;
    }
    if (said == Said.NOTHING && jobs.isEmpty()) {
      return WorkerState.UNKNOWN;
    }
    return said == Said.READY && jobs.size() < capacity() ? WorkerState.READY : WorkerState.BUSY;
  }
}
