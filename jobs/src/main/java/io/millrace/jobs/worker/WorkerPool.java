package io.millrace.jobs.worker;

import io.millrace.jobs.Assignment;
import io.millrace.jobs.JobChange;
import io.millrace.jobs.Report;
import io.millrace.jobs.Report.Settled;
import io.millrace.jobs.WorkerId;
import io.millrace.work.Step;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The workers as the dispatcher sees them. None of the methods blocks. Safe for use by any number
 * of threads.
 */
public interface WorkerPool extends Step {
  /** Room of a ready worker for one job, reserved until a job is assigned or it is released. */
  interface Slot {
    /** The worker that has the slot. */
    WorkerId worker();
  }

  /** Sets what is called, by any thread and quickly, when the dispatcher has something to do. */
  void wakeBy(Runnable call);

  /** Takes the reports since the last call, in order. */
  List<Report> takeReports();

  /** Says what became of a report, so that the worker hears of a refusal. */
  void settled(Report report, Settled outcome);

  /** The types that have a ready worker. */
  Set<String> readyTypes();

  /** Whether a worker of this type does not wait for a job and has to be answered in any case. */
  boolean needsAnswer(String type);

  /**
   * Reserves slots, first those of the workers that have been ready longest.
   *
   * @param wanted which workers may have a job
   */
  List<Slot> reserve(String type, int most, Predicate<WorkerId> wanted);

  /** Gives a job to a worker. If the worker has gone, a report returns the job. */
  void assign(Slot slot, Assignment assignment);

  /** Releases slots for which there was no job; their workers become the last to be asked. */
  void release(Collection<Slot> slots);

  /** The assignments whose claims are to be renewed. */
  List<Assignment> activeAssignments();

  /** Takes jobs from their workers, since these claims are no longer the latest ones. */
  void revoke(Collection<Assignment> assignments);

  /** Takes a job from its worker if this change, for example a cancellation, ended its claim. */
  void changed(JobChange change);

  /**
   * Does what is due: closes connections that did not register, pings, asks for states, and takes
   * back jobs of stuck workers.
   */
  @Override
  Instant step(Instant now);
}
