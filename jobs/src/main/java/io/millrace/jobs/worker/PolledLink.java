package io.millrace.jobs.worker;

import io.millrace.jobs.Assignment;
import io.millrace.jobs.Job;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The line to a worker that asks over HTTP: it carries one job, as the answer. */
final class PolledLink implements WorkerLink {
  private final CompletableFuture<Assignment> answer = new CompletableFuture<>();
  private final boolean once;

  /**
   * A line without a job yet.
   *
   * @param once whether the worker does not wait, so that one look for a job decides
   */
  PolledLink(boolean once) {
    this.once = once;
  }

  boolean once() {
    return once;
  }

  CompletableFuture<Assignment> answer() {
    return answer;
  }

  void give(Assignment assignment) {
    answer.complete(assignment);
  }

  /** There is no job for it. */
  void nothing() {
    answer.cancel(false);
  }

  @Override
  public void say(String text) {}

  @Override
  public void send(Job job, @Nullable String announcement) {}

  @Override
  public void ping() {}

  @Override
  public void close(int code, String reason) {
    nothing();
  }
}
