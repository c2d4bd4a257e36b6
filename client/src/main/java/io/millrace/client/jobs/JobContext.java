package io.millrace.client.jobs;

import io.millrace.client.Cancellation;
import org.jspecify.annotations.Nullable;

/** The job that a handler works on. Thread-safe. */
public final class JobContext {
  private final Announced announced;
  private final Reporter reporter;
  private final Cancellation cancellation = new Cancellation();
  private final Spool payload = new Spool();

  JobContext(Announced announced, Reporter reporter) {
    this.announced = announced;
    this.reporter = reporter;
  }

  /**
   * What the server announces about a job before its payload.
   *
   * @param id empty if the server does not announce jobs
   */
  record Announced(String id, String key, long token, long bytes) {
    static final Announced NOTHING = new Announced("", "", 0, -1);
  }

  /** Receives progress. */
  @FunctionalInterface
  interface Reporter {
    void report(JobContext job, @Nullable Double percent, @Nullable String info);
  }

  /** The GUID; empty if the server does not send it, as servers other than Millrace may do. */
  public String id() {
    return announced.id();
  }

  /** The key; the GUID if it has no key; empty if the server does not send it. */
  public String key() {
    return announced.key();
  }

  /**
   * The fencing token: larger than that of every earlier attempt at the job. Pass it to everything
   * that the work changes outside, which should refuse smaller ones. 0 if the server does not send
   * it.
   */
  public long fencingToken() {
    return announced.token();
  }

  /** The length of the payload in bytes; -1 if the server does not send it. */
  public long payloadSize() {
    return announced.bytes();
  }

  /**
   * Reports progress. A report that has not been sent is replaced by the next one.
   *
   * @param percent from 0 to 100
   * @throws IllegalArgumentException if it is out of range
   */
  public void progress(double percent) {
    reporter.report(this, checked(percent), null);
  }

  /** Reports what the work is doing; up to 1,000 characters are sent. */
  public void progress(String info) {
    reporter.report(this, null, info);
  }

  /**
   * Reports progress and what the work is doing.
   *
   * @param percent from 0 to 100
   * @throws IllegalArgumentException if it is out of range
   */
  public void progress(double percent, String info) {
    reporter.report(this, checked(percent), info);
  }

  private static double checked(double percent) {
    if (!(percent >= 0 && percent <= 100)) {
      throw new IllegalArgumentException("progress is from 0 to 100, not " + percent);
    }
    return percent;
  }

  /** Whether the job was withdrawn or the worker is stopping; then the result will not be used. */
  public boolean isCancelled() {
    return cancellation.isCancelled();
  }

  /** Runs {@code listener} when the job is cancelled; at once if it already is. */
  public void onCancel(Runnable listener) {
    cancellation.onCancel(listener);
  }

  /** The payload as it arrives. */
  Spool payload() {
    return payload;
  }

  /** Makes reading the payload fail from now on, with this reason. */
  void cancel(String reason) {
    payload.breakOff(reason);
    cancellation.cancel();
  }
}
