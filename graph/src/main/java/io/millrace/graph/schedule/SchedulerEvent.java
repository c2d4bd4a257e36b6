package io.millrace.graph.schedule;

import io.millrace.graph.GraphWork;
import io.millrace.graph.type.Attempt;
import java.util.List;

/** What other threads tell a scheduler's thread. */
sealed interface SchedulerEvent {
  /** An attempt is under way, and may be told to end. */
  record Begun(ActiveAttempt active, Attempt attempt) implements SchedulerEvent {}

  /** An attempt has ended. */
  record Over(ActiveAttempt active, Attempt.Ending ending) implements SchedulerEvent {}

  /** An attempt could not be told to end. */
  record Untold(ActiveAttempt active) implements SchedulerEvent {}

  /**
   * An attempt was made to bring ends on record.
   *
   * @param stored whether they are; false if that is not known either
   * @param batch whether others waited for them
   */
  record Written(List<End> ends, boolean stored, boolean batch) implements SchedulerEvent {}

  /**
   * The end of an attempt, as it comes on record.
   *
   * @param notBeforeMillis when that may be tried again if it has failed; 0 before
   */
  record End(ActiveAttempt active, GraphWork.Ended ended, long notBeforeMillis) {
    /** Whether it is to be written by itself, since it may be what cannot be stored. */
    boolean hasFailed() {
      return notBeforeMillis > 0;
    }

    End notBefore(long millis) {
      return new End(active, ended, millis);
    }
  }
}
