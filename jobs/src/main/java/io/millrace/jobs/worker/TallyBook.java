package io.millrace.jobs.worker;

import io.millrace.jobs.WorkerId;
import io.millrace.jobs.worker.WorkerView.Tally;
import java.util.Map;
import java.util.Optional;

/** Where the tallies of workers are kept over restarts. Safe for use by any number of threads. */
interface TallyBook {
  /** The tally of a worker; empty for one that is not known. */
  Optional<Tally> read(WorkerId worker);

  /** Stores these tallies in place of the older ones. */
  void write(Map<WorkerId, Tally> tallies);
}
