package io.millrace.jobs.worker;

import io.millrace.jobs.Assignment;
import io.millrace.jobs.JobChange;
import io.millrace.jobs.Report;
import io.millrace.jobs.Settled;
import io.millrace.jobs.WorkerId;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The workers, as the dispatcher sees them. None of the methods blocks. Safe for use by any number
 * of threads.
 */
public interface Crew {
  /** Sets what is called, by any thread and quickly, when the dispatcher has something to do. */
  void wakeBy(Runnable call);

  /** How attempts have ended since the last call, in order. */
  List<Report> takeReports();

  /** Tells what became of a report, so that the worker hears of a refusal. */
  void settled(Report report, Settled outcome);

  /** The types that have a ready worker. */
  Set<String> readyTypes();

  /**
   * Whether a worker of this type has asked that does not wait, and is to be answered in any case.
   */
  boolean isAsked(String type);

  /**
   * Reserves seats of ready workers, the one that has been ready longest first.
   *
   * @param wanted which workers are wanted
   */
  List<Seat> reserve(String type, int most, Predicate<WorkerId> wanted);

  /** Gives a job; where the worker has gone meanwhile, a report returns it. */
  void give(Seat seat, Assignment assignment);

  /** Leaves reserved seats; their workers are the last to be asked again. */
  void leave(Collection<Seat> seats);

  /** The jobs in workers' hands whose claims are to be renewed. */
  List<Assignment> inHand();

  /** These claims are not the latest of their jobs any more. */
  void lost(Collection<Assignment> assignments);

  /**
   * A job has changed, perhaps at a user's wish: it is lost to whoever has it, where it shows so.
   */
  void changed(JobChange change);

  /**
   * Does what is due: closes connections that did not register, pings, asks, and takes back what is
   * stuck.
   *
   * @param nowNanos a clock that never goes back
   * @return the nanoseconds after which it wants to be called again
   */
  long step(long nowNanos);
}
