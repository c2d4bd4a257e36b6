package io.millrace.jobs.worker;

import io.millrace.jobs.WorkerId;

/** A ready worker's place for one job, reserved until a job is given or the seat is left. */
public interface Seat {
  /** Whose it is. */
  WorkerId worker();
}
