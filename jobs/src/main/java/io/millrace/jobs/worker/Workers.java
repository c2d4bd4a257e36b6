package io.millrace.jobs.worker;

import io.millrace.jobs.JobId;
import java.util.List;
import java.util.Optional;

/** The workers as the server's API sees them. Safe for use by any number of threads. */
public interface Workers {
  /**
   * Opens the session of a worker that has connected. It has to register in time.
   *
   * @param type the type of its jobs; empty on a server without types
   */
  WorkerConnection connect(String type, WorkerLink link);

  /** The connected workers, then those that were disconnected last. */
  List<WorkerView> list();

  /** The last known state of a worker, by its id. */
  Optional<WorkerView> find(String id);

  /** The last progress of a running job; empty if its worker has reported none. */
  Optional<Progress> progress(JobId job);

  /**
   * The progress that was reported since an earlier answer.
   *
   * @param number of that answer; 0 for all progress of running jobs
   */
  Progress.Updates progressSince(long number);
}
