package io.millrace.client.jobs;

import io.millrace.client.Cancellation;
import org.jspecify.annotations.Nullable;

/** A job that a handler works on. Safe for use by threads. */
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
   * What the server says of a job before its payload.
   *
   * @param id empty if it says nothing
   */
  record Announced(String id, String key, long token, long bytes) {
    static final Announced NOTHING = new Announced("", "", 0, -1);
  }

  /** Takes progress. */
  @FunctionalInterface
  interface Reporter {
    void report(JobContext job, @Nullable Double percent, @Nullable String info);
  }

  /** Its GUID; empty if the server does not say, as servers other than Millrace may. */
  public String id() {
    return announced.id();
  }

  /** The key that it was given, or else its GUID; empty as {@link #id()}. */
  public String key() {
    return announced.key();
  }

  /**
   * The fencing token: larger than that of every earlier attempt at the job. Hand it to whatever
   * the work changes outside, which should refuse smaller ones. 0 if the server does not say.
   */
  public long fencingToken() {
    return announced.token();
  }

  /** How long the payload is in bytes; -1 if the server does not say. */
  public long payloadSize() {
    return announced.bytes();
  }

  /**
   * Reports how far the work is. A report that could not be sent before the next one is dropped.
   *
   * @param percent from 0 to 100
   * @throws IllegalArgumentException when it is not
   */
  public void progress(double percent) {
    reporter.report(this, checked(percent), null);
  }

  /** Reports what the work is doing; at most 1,000 characters are sent. */
  public void progress(String info) {
    reporter.report(this, null, info);
  }

  /**
   * Reports how far the work is, and what it is doing.
   *
   * @param percent from 0 to 100
   * @throws IllegalArgumentException when it is not
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

  /** Whether the job was taken back, or the worker stops: the result will not be used. */
  public boolean isCancelled() {
    return cancellation.isCancelled();
  }

  /** Runs {@code listener} when the job is cancelled; at once if it already is. */
  public void onCancel(Runnable listener) {
    cancellation.onCancel(listener);
  }

  /** Its bytes, as they come. */
  Spool payload() {
    return payload;
  }

  /** Reading the payload fails from now on, with this reason. */
  void cancel(String reason) {
    payload.breakOff(reason);
    cancellation.cancel();
  }
}
