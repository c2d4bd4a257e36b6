package io.millrace.queues.search;

import io.millrace.queues.QueueTask;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.work.filter.Filter;
import java.util.List;

/** Finds tasks wherever they are kept. Safe for use by any number of threads. */
public interface TaskFinder {
  /**
   * A task that was found.
   *
   * @param archived whether it was found in the archive
   */
  record Found(QueueTask task, boolean archived) {}

  /**
   * The tasks that match, sorted and limited as the options say.
   *
   * @param everywhere whether to search the archive, if there is one, even if the filter does not
   *     name ids
   * @throws InvalidRequestException if the filter has a condition that cannot be looked for
   */
  List<Found> find(Filter filter, SearchOptions options, boolean everywhere);

  /**
   * The number of tasks that match.
   *
   * @throws InvalidRequestException if the filter has a condition that cannot be looked for, or too
   *     many match
   */
  long count(Filter filter, boolean everywhere);
}
