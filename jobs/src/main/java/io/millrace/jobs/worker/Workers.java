package io.millrace.jobs.worker;

import io.millrace.jobs.JobId;
import java.util.List;
import java.util.Optional;

/** The workers, as the server's other parts see them. Safe for use by any number of threads. */
public interface Workers {
  /**
   * A worker has connected, and has to register in time.
   *
   * @param type the type of its jobs; empty on a server without types
   */
  WorkerConnection connect(String type, WorkerLink link);

  /** Those that are connected, and those that were not long ago. */
  List<WorkerView> list();

  /** The last known state of a worker, by its id. */
  Optional<WorkerView> find(String id);

  /** How far a job is, as its worker last said; empty when it has not, or the job does not run. */
  Optional<Progress> progress(JobId job);

  /**
   * How far the jobs are of which their workers have said something since.
   *
   * @param after the number of an earlier answer; 0 for all that was said of jobs that run
   */
  Advances advances(long after);
}
