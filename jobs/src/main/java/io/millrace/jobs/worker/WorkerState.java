package io.millrace.jobs.worker;

import java.util.Locale;

/** What is known of a worker. */
public enum WorkerState {
  /** Registered, and has not said yet whether it is ready. */
  UNKNOWN,
  /** Can be given a job. */
  READY,
  /** Has as many jobs as it takes, or says that it is busy. */
  BUSY,
  /** Its connection is over; it is listed for a while. */
  DISCONNECTED;

  /** Its name in answers, in lower case. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
