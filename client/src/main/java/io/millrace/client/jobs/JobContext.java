package io.millrace.client.jobs;

import io.millrace.client.Cancellation;
import org.jspecify.annotations.Nullable;

/** The job that a handler works on. Thread-safe. */
public final class JobContext {
  private final Announcement announced;
  private final Reporter reporter;
  private final Cancellation cancellation = new Cancellation();
  private final Spool payload = new Spool();

  JobContext(Announcement announced, Reporter reporter) {
    this.announced = announced;
    this.reporter = reporter;
  }

  /**
   * What the server says about a job before its payload.
   *
   * @param id empty if the server does not announce jobs
   */
  record Announcement(String id, String key, long token, long bytes) {
    static final Announcement NONE = new Announcement("", "", 0, -1);
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
   * The fencing token: larger than that of every earlier attempt at the job. Pass it to every
   * system that the work changes; such a system should reject smaller tokens. 0 if the server does
   * not send it.
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

  /** Whether the job was withdrawn or the worker is stopping. The result is not used then. */
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

  /** Cancels the job. Reading the payload fails from now on, with this reason. */
  void cancel(String reason) {
    payload.breakOff(reason);
    cancellation.cancel();
  }
}
