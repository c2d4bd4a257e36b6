package io.millrace.client.jobs;

import io.millrace.client.Cancellation;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A job that arrived over a connection, with its payload as it arrives. Thread-safe. */
final class ReceivedJob implements JobContext {
  private final Announcement announced;
  private final Reporter reporter;
  private final Cancellation cancellation = new Cancellation();
  private final Spool payload = new Spool();

  ReceivedJob(Announcement announced, Reporter reporter) {
    this.announced = announced;
    this.reporter = reporter;
  }

  /**
   * What the server says about a job before its payload.
   *
   * @param id empty if the server does not announce jobs
   */
  record Announcement(String id, String key, long token, long bytes, Map<String, String> trace) {
    static final Announcement NONE = new Announcement("", "", 0, -1, Map.of());
  }

  /** Receives progress. */
  @FunctionalInterface
  interface Reporter {
    void report(ReceivedJob job, @Nullable Double percent, @Nullable String info);
  }

  @Override
  public String id() {
    return announced.id();
  }

  @Override
  public String key() {
    return announced.key();
  }

  @Override
  public long fencingToken() {
    return announced.token();
  }

  @Override
  public Map<String, String> trace() {
    return announced.trace();
  }

  @Override
  public long payloadSize() {
    return announced.bytes();
  }

  @Override
  public void report(@Nullable Double percent, @Nullable String info) {
    reporter.report(this, JobContext.checked(percent), info);
  }

  @Override
  public boolean isCancelled() {
    return cancellation.isCancelled();
  }

  @Override
  public void onCancel(Runnable listener) {
    cancellation.onCancel(listener);
  }

  /** The payload as it arrives. */
  Spool payload() {
    return payload;
  }

  /** Cancels the job. Reading the payload fails from now on, with this reason. */
  void cancel(String reason) {
    payload.breakOff(reason);
    cancellation.cancel();
  }
}
