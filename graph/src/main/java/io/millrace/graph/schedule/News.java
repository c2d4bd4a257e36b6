package io.millrace.graph.schedule;

import io.millrace.graph.Attempt;
import io.millrace.graph.GraphWork;
import java.util.List;

/** What other threads tell a scheduler's thread. */
sealed interface News {
  /** An attempt is under way, and may be told to end. */
  record Begun(Trial trial, Attempt attempt) implements News {}

  /** An attempt has ended. */
  record Over(Trial trial, Attempt.Ending ending) implements News {}

  /** An attempt could not be told to end. */
  record Untold(Trial trial) implements News {}

  /**
   * An attempt was made to bring ends on record.
   *
   * @param stored whether they are; false where that is not known either
   * @param batch whether others waited for them
   */
  record Written(List<End> ends, boolean stored, boolean batch) implements News {}

  /** The end of an attempt, as it comes on record. */
  record End(Trial trial, GraphWork.Ended ended) {}
}
