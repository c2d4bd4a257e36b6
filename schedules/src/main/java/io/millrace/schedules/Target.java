package io.millrace.schedules;

import io.millrace.schedules.ScheduleState.Cause;
import io.millrace.schedules.ScheduleState.Ending;
import io.millrace.schedules.SchedulesException.InvalidScheduleException;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Transaction;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * What schedules can run: the tasks of a queue, for example. A description of a target is a JSON
 * object whose fields say what is to be run; {@link #field} tells the targets apart. Safe for use
 * by threads.
 */
public interface Target {
  /** The field that every description for this target has, for example {@code queue}. */
  String field();

  /**
   * Checks a description before a schedule is stored with it.
   *
   * @throws InvalidScheduleException if nothing could be run by it
   */
  void check(ObjectNode description);

  /** The most runs that one commit can start, from 1; 50 by default. */
  default int maxStarts() {
    return 50;
  }

  /**
   * Starts runs, in one commit with the note of the schedule that they were started.
   *
   * @param runs at least one, at most {@link #maxStarts}
   * @param commit commits a transaction to which the runs were added; to be called at most once
   * @return whether it was committed; false if something changed in between
   * @throws InvalidScheduleException if they cannot be started, for example because their queue was
   *     deleted; nothing was committed then
   */
  boolean start(List<Request> runs, ObjectNode description, JointCommit commit);

  /** Commits runs of a target together with the state of their schedule. */
  interface JointCommit {
    /** Begins a transaction, for targets that need none of their own. */
    Transaction.Builder begin();

    /**
     * Adds the state of the schedule to a transaction, and commits it.
     *
     * @param ids the ids of the runs in the order given, unique within this target
     * @return null if something changed in between
     */
    Outcome.@Nullable Done commit(Transaction.Builder transaction, List<String> ids);
  }

  /**
   * How a run has ended.
   *
   * @return empty if it has not
   */
  Optional<End> end(String id);

  /** Asks a run to end; does nothing if it has ended. */
  void cancel(String id);

  /** The collection of the documents that change when a run ends. */
  String collection();

  /** The id of the run to which a changed document belongs; null if it belongs to none. */
  @Nullable String runOf(DocumentKey key);

  /**
   * A run to start.
   *
   * @param schedule the name of the schedule
   * @param nominal the nominal time; for a manual run, when it was asked for
   * @param started the time now
   * @param cause why it is started
   */
  record Request(String schedule, Instant nominal, Instant started, Cause cause) {}

  /**
   * The end of a run.
   *
   * @param ending how it ended
   * @param reason why it ended so, if that is known
   */
  record End(Ending ending, @Nullable String reason) {}
}
