package io.millrace.graph.schedule;

import io.millrace.graph.GraphWork;
import io.millrace.graph.type.Attempt;
import java.util.List;

/** What other threads report to the scheduler's thread. */
sealed interface SchedulerEvent {
  /** An attempt has begun, and can be killed. */
  record Begun(ActiveAttempt active, Attempt attempt) implements SchedulerEvent {}

  /** An attempt has ended. */
  record Over(ActiveAttempt active, Attempt.Ending ending) implements SchedulerEvent {}

  /** A kill could not be sent to an attempt. */
  record Untold(ActiveAttempt active) implements SchedulerEvent {}

  /**
   * Ends of attempts were recorded, or could not be.
   *
   * @param stored whether they are recorded; false if that is unknown
   * @param batch whether further ends waited for these
   */
  record Written(List<End> ends, boolean stored, boolean batch) implements SchedulerEvent {}

  /**
   * The end of an attempt, to be recorded.
   *
   * @param notBeforeMillis when it may be recorded again after a failure; 0 before
   */
  record End(ActiveAttempt active, GraphWork.Ended ended, long notBeforeMillis) {
    /** Whether it is recorded by itself, since it may be the one that cannot be stored. */
    boolean hasFailed() {
      return notBeforeMillis > 0;
    }

    End notBefore(long millis) {
      return new End(active, ended, millis);
    }
  }
}
