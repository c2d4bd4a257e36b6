package io.millrace.client.jobs;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The job that a handler works on. Thread-safe. */
public interface JobContext {
  /** The GUID; empty if the server does not send it, as servers other than Millrace may do. */
  String id();

  /** The key; the GUID if it has no key; empty if the server does not send it. */
  String key();

  /**
   * The fencing token: larger than that of every earlier attempt at the job. Pass it to every
   * system that the work changes; such a system should reject smaller tokens. 0 if the server does
   * not send it.
   */
  long fencingToken();

  /**
   * The span of this attempt, by which the work can go on with the trace of its submitter: {@code
   * TRACEPARENT} and, if there is one, {@code TRACESTATE}, as in W3C Trace Context; empty if the
   * job belongs to no trace.
   */
  Map<String, String> trace();

  /** The length of the payload in bytes; -1 if the server does not send it. */
  long payloadSize();

  /**
   * Reports progress. A report that has not been sent is replaced by the next one.
   *
   * @param percent from 0 to 100; null for no number
   * @param info what the work is doing; up to 1,000 characters are kept; null for no words
   * @throws IllegalArgumentException if the percentage is out of range
   */
  void report(@Nullable Double percent, @Nullable String info);

  /**
   * Reports a percentage alone.
   *
   * @param percent from 0 to 100
   * @throws IllegalArgumentException if it is out of range
   */
  default void progress(double percent) {
    report(percent, null);
  }

  /** Reports what the work is doing, without a percentage. */
  default void progress(String info) {
    report(null, info);
  }

  /**
   * Reports both.
   *
   * @param percent from 0 to 100
   * @throws IllegalArgumentException if it is out of range
   */
  default void progress(double percent, String info) {
    report(percent, info);
  }

  /**
   * Checks a percentage and returns it.
   *
   * @throws IllegalArgumentException if it is out of range
   */
  static @Nullable Double checked(@Nullable Double percent) {
    if (percent != null && !(percent >= 0 && percent <= 100)) {
      throw new IllegalArgumentException("progress is from 0 to 100, not " + percent);
    }
    return percent;
  }

  /** Whether the job was withdrawn or the worker is stopping. The result is not used then. */
  boolean isCancelled();

  /** Runs {@code listener} when the job is cancelled; at once if it already is. */
  void onCancel(Runnable listener);
}
