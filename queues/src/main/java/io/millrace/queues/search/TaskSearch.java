package io.millrace.queues.search;

import io.millrace.queues.ObjectId;
import io.millrace.queues.QueueTask;
import io.millrace.queues.registry.Queues;
import io.millrace.queues.registry.TaskIndex;
import io.millrace.queues.registry.TaskIndex.Candidate;
import io.millrace.queues.registry.TaskIndex.KindCounts;
import io.millrace.queues.search.Plan.Cover;
import io.millrace.work.filter.Filter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Search for tasks in the store. Each task in a result was read at some position during the search;
 * the result as a whole is not a snapshot. Thread-safe.
 *
 * <p>Tasks are looked up directly if the filter names their ids. Counts by queue and status come
 * from the groups of the store, as do the first or last tasks of a queue and status, if they are
 * not among the first 10,000 of all. Anything else scans tasks in the order of their ids until
 * there are enough results, on all processors. Tasks whose document lacks a text or number that the
 * filter asks for are passed over without being parsed; of others only the fields are parsed that
 * the filter looks at, and tasks that are counted or skipped are not read.
 */
public final class TaskSearch {
  /**
   * Above this number of candidates, a scan of all tasks is cheaper than looking up each candidate.
   */
  private static final int MAX_LOOKED_UP = 2_000;

  /** How many tasks a scan reads in the time of one lookup. */
  private static final int LOOKS_PER_LOOKUP = 8;

  /** How many tasks are read before the groups of the store are looked through. */
  private static final int MAX_SCANNED = 10_000;

  /** If more than this share of all tasks can match, a scan soon finds enough of them. */
  private static final double MAX_PART = 0.9;

  private static final Set<Cover> ANY = EnumSet.of(Cover.PART, Cover.ALL);

  private final Queues queues;
  private final TaskIndex index;

  private TaskSearch(Queues queues) {
    this.queues = queues;
    this.index = queues.index();
  }

  /** Creates a search in these queues. */
  public static TaskSearch in(Queues queues) {
    return new TaskSearch(queues);
  }

  /** The tasks that match, sorted and limited as the options say. */
  public List<QueueTask> find(Filter filter, SearchOptions options) {
    Plan plan = Plan.of(filter);
    if (plan.ids() != null) {
      return sorted(lookUp(plan.ids(), filter), options);
    }
    Map<ObjectId, KindCounts> counts = index.counts();
    long candidates = plan.candidates(counts, ANY);
    if (isWorthLookups(candidates, counts)) {
      return sorted(lookUp(candidates(plan, counts, ANY), filter), options);
    }
    if (!options.isById()) {
      return sortedOfAll(filter, options);
    }
    long wanted = (long) options.skip() + options.limit();
    boolean most = candidates > all(counts) * MAX_PART;
    if (plan.exact() && !plan.hasPart() && !most && wanted <= MAX_LOOKED_UP) {
      List<QueueTask> found = scan(plan, filter, options, MAX_SCANNED);
      return found == null ? firstOfGroups(plan, counts, filter, options) : found;
    }
    return Objects.requireNonNull(scan(plan, filter, options, Long.MAX_VALUE));
  }

  /** The number of tasks that match. */
  public long count(Filter filter) {
    Plan plan = Plan.of(filter);
    if (plan.ids() != null) {
      return lookUp(plan.ids(), filter).size();
    }
    Map<ObjectId, KindCounts> counts = index.counts();
    long sure = plan.exact() ? plan.candidates(counts, EnumSet.of(Cover.ALL)) : 0;
    Set<Cover> unsure = plan.exact() ? EnumSet.of(Cover.PART) : ANY;
    long candidates = plan.candidates(counts, unsure);
    if (candidates == 0) {
      return sure;
    }
    if (isWorthLookups(candidates, counts)) {
      return sure + lookUp(candidates(plan, counts, unsure), filter).size();
    }
    AtomicLong count = new AtomicLong();
    var _ =
        index.oldestFirst(
            filter,
            plan.after(),
            Long.MAX_VALUE,
            task -> matching(task, filter),
            _ -> {
              long _ = count.incrementAndGet();
              return true;
            });
    return count.get();
  }

  /** The task, if it matches; null otherwise. */
  private static @Nullable Candidate matching(Candidate task, Filter filter) {
    return task.matches() || filter.matches(TaskFilter.subject(task.read())) ? task : null;
  }

  /**
   * The ids of all tasks that can match now, if looking each of them up is cheaper than reading all
   * tasks; otherwise null.
   */
  @Nullable NavigableSet<String> candidates(Filter filter) {
    Plan plan = Plan.of(filter);
    if (plan.ids() != null) {
      return plan.ids().stream()
          .filter(ObjectId::isValid)
          .collect(Collectors.toCollection(TreeSet::new));
    }
    Map<ObjectId, KindCounts> counts = index.counts();
    return isWorthLookups(plan.candidates(counts, ANY), counts)
        ? candidates(plan, counts, ANY)
        : null;
  }

  private static boolean isWorthLookups(long candidates, Map<ObjectId, KindCounts> counts) {
    return candidates <= MAX_LOOKED_UP && candidates * LOOKS_PER_LOOKUP <= all(counts);
  }

  private static long all(Map<ObjectId, KindCounts> counts) {
    return counts.values().stream()
        .mapToLong(each -> each.queued() + each.active() + each.held() + each.finished())
        .sum();
  }

  private NavigableSet<String> candidates(
      Plan plan, Map<ObjectId, KindCounts> counts, Set<Cover> covers) {
    NavigableSet<String> ids = new TreeSet<>();
    idsOf(plan, counts, covers, false).forEach(each -> each.forEach(ids::add));
    return ids;
  }

  private List<Iterable<String>> idsOf(
      Plan plan, Map<ObjectId, KindCounts> counts, Set<Cover> covers, boolean newestFirst) {
    List<Iterable<String>> found = new ArrayList<>();
    counts.forEach((queue, count) -> {
      if (plan.has(queue)) {
        plan.kinds()
            .forEach((kind, cover) -> {
              if (covers.contains(cover)) {
                found.add(index.ids(queue, kind, newestFirst));
              }
            });
      }
    });
    return found;
  }

  /** Reads these tasks by id and keeps those that match. */
  private List<QueueTask> lookUp(Collection<String> ids, Filter filter) {
    List<QueueTask> found = new ArrayList<>();
    for (String id : ids) {
      Optional<QueueTask> task = queues.tasks().find(new ObjectId(id));
      task.filter(each -> filter.matches(TaskFilter.subject(each))).ifPresent(found::add);
    }
    return found;
  }

  private static List<QueueTask> sorted(List<QueueTask> found, SearchOptions options) {
    return found.stream()
        .sorted(options.order())
        .skip(options.skip())
        .limit(options.limit())
        .toList();
  }

  /** Scans all tasks, and keeps only as many as wanted. */
  private List<QueueTask> sortedOfAll(Filter filter, SearchOptions options) {
    Comparator<QueueTask> order = options.order();
    long wanted = (long) options.skip() + options.limit();
    PriorityQueue<QueueTask> best = new PriorityQueue<>(order.reversed());
    var _ =
        index.oldestFirst(
            filter,
            "",
            Long.MAX_VALUE,
            candidate -> {
              QueueTask task = candidate.read();
              return candidate.matches() || filter.matches(TaskFilter.subject(task)) ? task : null;
            },
            task -> {
              best.add(task);
              if (best.size() > wanted) {
                best.remove();
              }
              return true;
            });
    return sorted(new ArrayList<>(best), options);
  }

  /**
   * Looks at tasks in the order of their ids until there are enough results.
   *
   * @param most how many tasks it looks at
   * @return null if these were not enough
   */
  private @Nullable List<QueueTask> scan(
      Plan plan, Filter filter, SearchOptions options, long most) {
    List<QueueTask> found = new ArrayList<>();
    AtomicLong skipped = new AtomicLong();
    Function<Candidate, @Nullable Candidate> form = task -> matching(task, filter);
    Predicate<Candidate> look =
        task -> {
          if (skipped.getAndIncrement() >= options.skip()) {
            found.add(task.read());
          }
          return found.size() < options.limit();
        };
    boolean whole =
        options.newestFirst()
            ? index.newestFirst(filter, plan.before(), most, form, look)
            : index.oldestFirst(filter, plan.after(), most, form, look);
    return whole ? found : null;
  }

  /**
   * The first or last tasks by id of some groups. Works in rounds, since tasks may have changed
   * their status in the meantime.
   */
  private List<QueueTask> firstOfGroups(
      Plan plan, Map<ObjectId, KindCounts> counts, Filter filter, SearchOptions options) {
    Comparator<String> order =
        options.newestFirst() ? Comparator.reverseOrder() : Comparator.naturalOrder();
    int wanted = options.skip() + options.limit();
    List<QueueTask> found = new ArrayList<>();
    String last = "";
    while (found.size() < wanted) {
      List<String> round =
          pick(idsOf(plan, counts, ANY, options.newestFirst()), order, last, wanted);
      found.addAll(lookUp(round, filter));
      if (round.size() < wanted) {
        break;
      }
      last = round.getLast();
    }
    return found.stream().skip(options.skip()).limit(options.limit()).toList();
  }

  /** The first {@code most} ids after {@code last}. */
  private static List<String> pick(
      List<Iterable<String>> ids, Comparator<String> order, String last, int most) {
    TreeSet<String> best = new TreeSet<>(order);
    for (Iterable<String> each : ids) {
      for (String id : each) {
        boolean due = last.isEmpty() || order.compare(id, last) > 0;
        if (due && (best.size() < most || order.compare(id, best.last()) < 0)) {
          best.add(id);
          if (best.size() > most) {
            best.pollLast();
          }
        }
      }
    }
    return List.copyOf(best);
  }
}
