package io.millrace.jobs.worker;

import io.millrace.jobs.Assignment;
import io.millrace.jobs.JobId;
import org.jspecify.annotations.Nullable;

/** A job in a worker's hands. Guarded by the lock of its {@link Floor}. */
final class Held {
  private final Post post;
  private final Assignment assignment;
  private long signNanos;
  private long askedNanos;
  private boolean asked;
  private boolean sent;
  private boolean lost;
  private boolean over;
  private @Nullable Progress progress;
  private long progressNumber;

  Held(Post post, Assignment assignment, long nowNanos) {
    this.post = post;
    this.assignment = assignment;
    this.signNanos = nowNanos;
  }

  /** Who has it. */
  Post post() {
    return post;
  }

  Assignment assignment() {
    return assignment;
  }

  /** Which job it is. */
  JobId id() {
    return assignment.job().id();
  }

  /** Its payload is on the way: from now on it may be the job's fault if the worker goes. */
  void sent() {
    sent = true;
  }

  boolean wasSent() {
    return sent;
  }

  /** The worker has shown that it works on it. */
  void sign(long nowNanos) {
    signNanos = nowNanos;
    asked = false;
  }

  void advance(Progress now, long nowNanos) {
    progress = now;
    sign(nowNanos);
  }

  /** Its progress was said after that of all smaller numbers. */
  void numberProgress(long number) {
    progressNumber = number;
  }

  long progressNumber() {
    return progressNumber;
  }

  @Nullable Progress progress() {
    return progress;
  }

  long signNanos() {
    return signNanos;
  }

  /** The worker was asked about it. */
  void ask(long nowNanos) {
    asked = true;
    askedNanos = nowNanos;
  }

  /** Whether it was asked about since the last sign. */
  boolean asked() {
    return asked;
  }

  long askedNanos() {
    return askedNanos;
  }

  /** It was taken from the worker, who does not know yet. */
  void lose() {
    lost = true;
  }

  boolean lost() {
    return lost;
  }

  /** The worker is done with it: it has a result or a failure under way to the registry. */
  void finish() {
    over = true;
  }

  /** What the worker had for the registry could not be stored: it may say so again. */
  void reopen() {
    over = false;
  }

  /** Whether what the worker says of it still counts. */
  boolean counts() {
    return !lost && !over;
  }
}
