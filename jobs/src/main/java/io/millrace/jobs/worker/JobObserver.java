package io.millrace.jobs.worker;

import io.millrace.jobs.Assignment;
import io.millrace.jobs.Job;
import io.millrace.jobs.Report;

/** Hears of attempts, for metrics. Called by any thread; must be quick and must not fail. */
public interface JobObserver {
  /** Hears nothing. */
  JobObserver NONE =
      new JobObserver() {
        @Override
        public void dispatched(Assignment assignment, long waitedMillis) {}

        @Override
        public void ended(Report report, Job now) {}

        @Override
        public void refused(String type) {}
      };

  /**
   * A worker has got a job.
   *
   * @param waitedMillis how long ago the job was submitted, from 0
   */
  void dispatched(Assignment assignment, long waitedMillis);

  /**
   * The report of an attempt was accepted and is stored.
   *
   * @param now the job after it
   */
  void ended(Report report, Job now);

  /**
   * A result or failure was refused, since its attempt was no longer the latest of its job.
   *
   * @param type the type of the job; empty on a server without types, and if the job is gone
   */
  void refused(String type);
}
