package io.millrace.queues.search;

import io.millrace.queues.ObjectId;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.registry.Queues;
import io.millrace.queues.registry.TaskArchive;
import io.millrace.store.StandbyStore.LeaderNeededException;
import io.millrace.work.filter.Filter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Search for tasks in the store and in the archive. The archive is always searched for task ids;
 * for anything else only on request, since that reads all archived tasks, a few hundred thousand
 * per second. Thread-safe.
 */
public final class ArchiveSearch implements TaskFinder {
  /** The most archived tasks that one search counts; it keeps the ids in memory. */
  public static final int MAX_COUNTED = 1_000_000;

  private final Queues queues;
  private final TaskSearch live;
  private final @Nullable TaskArchive archived;

  private ArchiveSearch(Queues queues, @Nullable TaskArchive archived) {
    this.queues = queues;
    this.live = TaskSearch.in(queues);
    this.archived = archived;
  }

  /** Creates a search in these queues and their archive. */
  public static ArchiveSearch in(Queues queues, TaskArchive archived) {
    return new ArchiveSearch(queues, archived);
  }

  /**
   * Creates a search where only the leader reads the archive: searches that need it throw {@link
   * LeaderNeededException}.
   */
  public static ArchiveSearch atStandby(Queues queues) {
    return new ArchiveSearch(queues, null);
  }

  private TaskArchive archive() {
    if (archived == null) {
      throw new LeaderNeededException("only the leader reads the archive");
    }
    return archived;
  }

  /**
   * The tasks that match, sorted and limited as the options say.
   *
   * @param everywhere whether to search the archive even if the filter does not name ids
   */
  @Override
  public List<Found> find(Filter filter, SearchOptions options, boolean everywhere) {
    Set<String> ids = Plan.of(filter).ids();
    if (ids == null && !everywhere) {
      return live.find(filter, options).stream().map(task -> new Found(task, false)).toList();
    }
    Comparator<Found> order = Comparator.comparing(Found::task, options.order());
    List<Found> found = new ArrayList<>();
    live.find(filter, options.fromStart()).forEach(task -> found.add(new Found(task, false)));
    if (ids == null) {
      found.addAll(firstArchived(filter, options, order));
    } else {
      found.addAll(archivedOf(ids, filter));
    }
    return found.stream().sorted(order).skip(options.skip()).limit(options.limit()).toList();
  }

  /**
   * The number of tasks that match.
   *
   * @throws InvalidRequestException if more than {@link #MAX_COUNTED} archived tasks match
   */
  @Override
  public long count(Filter filter, boolean everywhere) {
    long count = live.count(filter);
    Set<String> ids = Plan.of(filter).ids();
    if (ids != null) {
      return count + archivedOf(ids, filter).size();
    }
    return everywhere ? count + countArchived(filter) : count;
  }

  private List<Found> archivedOf(Set<String> ids, Filter filter) {
    List<ObjectId> missing =
        ids.stream()
            .filter(ObjectId::isValid)
            .map(ObjectId::new)
            .filter(id -> !isInStore(id))
            .toList();
    if (missing.isEmpty()) {
      return List.of();
    }
    return archive().find(missing).values().stream()
        .filter(task -> filter.matches(TaskFilter.subject(task)))
        .map(task -> new Found(task, true))
        .toList();
  }

  private boolean isInStore(ObjectId id) {
    return queues.tasks().find(id).isPresent();
  }

  /** Reads the whole archive, and keeps only as many tasks as wanted. */
  private List<Found> firstArchived(Filter filter, SearchOptions options, Comparator<Found> order) {
    int wanted = options.fromStart().limit();
    PriorityQueue<Found> best = new PriorityQueue<>(order.reversed());
    Set<ObjectId> kept = new HashSet<>();
    archive()
        .each(
            Plan.of(filter).columns(),
            options.newestFirst(),
            task -> {
              Found one = new Found(task, true);
              Found worst = best.peek();
              boolean fits = best.size() < wanted || worst == null || order.compare(one, worst) < 0;
              if (fits
                  && !kept.contains(task.id())
                  && filter.matches(TaskFilter.subject(task))
                  && !isInStore(task.id())) {
                best.add(one);
                kept.add(task.id());
                if (best.size() > wanted) {
                  kept.remove(best.remove().task().id());
                }
              }
            });
    return List.copyOf(best);
  }

  private int countArchived(Filter filter) {
    Set<ObjectId> counted = new HashSet<>();
    archive()
        .each(
            Plan.of(filter).columns(),
            true,
            task -> {
              if (filter.matches(TaskFilter.subject(task)) && !isInStore(task.id())) {
                counted.add(task.id());
              }
              if (counted.size() > MAX_COUNTED) {
                throw new InvalidRequestException(
                    "archived",
                    "more than "
                        + MAX_COUNTED
                        + " archived tasks match: narrow the filter, for example by ctime");
              }
            });
    return counted.size();
  }
}
