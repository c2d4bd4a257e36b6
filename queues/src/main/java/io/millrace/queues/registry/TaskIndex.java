package io.millrace.queues.registry;

import io.millrace.queues.Json;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask;
import io.millrace.queues.Run;
import io.millrace.queues.Status;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.Task;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.TaskStore.DocumentQuery.Order;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.work.StoreSession;
import io.millrace.work.filter.Filter;
import io.millrace.work.filter.Prefilter;
import io.millrace.work.filter.Subject;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Finds queue tasks without reading all of them: by queue and kind through the groups of the
 * kernel, or by id. The result of one call is consistent; tasks change between two calls, so a
 * caller that needs certainty reads the task itself. Safe for use by any number of threads.
 */
public final class TaskIndex {
  private static final String GROUPS = "queues/";

  /** How documents of tasks are written. */
  private static final Prefilter.Writing WRITING =
      new Prefilter.Writing(
          Set.of("queue", "node", "params", "stdout", "stderr", "mixedout", "reason"),
          Set.of("tags"),
          Set.of("status", "ctime", "mtime"),
          Json::quoted);

  /** The fields of a task that its document has as filters see them. */
  private static final Set<String> PLAIN =
      Set.of("queue", "status", "node", "ctime", "mtime", "params", "reason");

  private static final int PAGE = 1_000;

  private final QueueSession session;

  TaskIndex(QueueSession session) {
    this.session = session;
  }

  /**
   * The number of tasks of each kind in every queue, including deleted queues that still have some.
   */
  public Map<ObjectId, KindCounts> counts() {
    Map<ObjectId, KindCounts> counts = new HashMap<>();
    for (GroupSummary group : session.store().groups().value()) {
      long all = group.waiting() + group.delayed() + group.owned();
      String name = group.name();
      if (!name.startsWith(GROUPS)) {
        continue;
      }
      int end = name.indexOf('/', GROUPS.length());
      String queue = name.substring(GROUPS.length(), end < 0 ? name.length() : end);
      if (ObjectId.isValid(queue)) {
        String kind = end < 0 ? "" : name.substring(end);
        add(counts, new ObjectId(queue), kindOfGroup(kind), all);
      }
    }
    // The group from which nodes claim includes the claimed tasks.
    for (Document run : session.all(Keys.RUNS)) {
      ObjectId queue = Run.read(run).queue();
      add(counts, queue, TaskKind.QUEUED, -1);
      add(counts, queue, TaskKind.ACTIVE, 1);
    }
    return counts;
  }

  private static TaskKind kindOfGroup(String suffix) {
    return switch (suffix) {
      case "/held" -> TaskKind.HELD;
      case "/finished" -> TaskKind.FINISHED;
      default -> TaskKind.QUEUED;
    };
  }

  private static void add(
      Map<ObjectId, KindCounts> counts, ObjectId queue, TaskKind kind, long more) {
    counts.merge(queue, KindCounts.NONE.plus(kind, more), (old, _) -> old.plus(kind, more));
  }

  /**
   * The ids of the tasks of a queue that are of this kind, and of some others.
   *
   * @param newestFirst whether they come about newest first, or about oldest first: tasks that were
   *     queued again may be anywhere
   */
  public Iterable<String> ids(ObjectId queue, TaskKind kind, boolean newestFirst) {
    String group =
        switch (kind) {
          case QUEUED -> Queue.waitingGroup(queue);
          case HELD -> Queue.heldGroup(queue);
          case FINISHED -> Queue.finishedGroup(queue);
          case ACTIVE -> "";
        };
    if (kind == TaskKind.ACTIVE) {
      return session.all(Keys.RUNS).stream()
          .map(Run::read)
          .filter(run -> run.queue().equals(queue))
          .map(run -> run.task().hex())
          .toList();
    }
    return () -> {
      List<Task> tasks = session.store().group(GroupQuery.all(group)).value();
      Iterator<Task> each = newestFirst ? tasks.reversed().iterator() : tasks.iterator();
      return new Iterator<>() {
        @Override
        public boolean hasNext() {
          return each.hasNext();
        }

        @Override
        public String next() {
          return each.next().data().utf8();
        }
      };
    };
  }

  /**
   * A task that can match a filter, before it is read.
   *
   * @param document its document
   * @param matches whether it surely matches
   */
  public record Candidate(Document document, boolean matches) {
    /** Reads the task. */
    public QueueTask read() {
      return QueueTask.read(document);
    }
  }

  /**
   * Passes on tasks that can match a filter by id, oldest first, page by page. Most tasks that
   * cannot match it are left out.
   *
   * @param after only tasks with greater ids; empty for all
   * @param most how many tasks it looks at, with those that are left out
   * @param form what a task is to the caller, or null to leave it out; depends on nothing else, and
   *     is called by any thread, also for tasks that are never passed on
   * @param look takes what the form made, and returns whether to go on
   * @return false if it ended because of {@code most}
   */
  public <T> boolean oldestFirst(
      Filter filter,
      String after,
      long most,
      Function<Candidate, @Nullable T> form,
      Predicate<T> look) {
    return pass(new DocumentQuery(Keys.TASKS, "", after, PAGE), filter, most, form, look);
  }

  /**
   * The same newest first.
   *
   * @param before only tasks with smaller ids; empty for all
   */
  public <T> boolean newestFirst(
      Filter filter,
      String before,
      long most,
      Function<Candidate, @Nullable T> form,
      Predicate<T> look) {
    DocumentQuery newest = new DocumentQuery(Keys.TASKS, "", before, PAGE, Order.DESCENDING);
    return pass(newest, filter, most, form, look);
  }

  private <T> boolean pass(
      DocumentQuery query,
      Filter filter,
      long most,
      Function<Candidate, @Nullable T> form,
      Predicate<T> look) {
    Predicate<Bytes> canMatch = Prefilter.of(filter, WRITING);
    Set<String> fields = filter.fields().collect(Collectors.toSet());
    boolean decided = PLAIN.containsAll(fields);
    StoreSession.Scan<T> tasks =
        session.scan(
            query,
            most,
            task -> {
              Bytes json = task.body();
              boolean may =
                  canMatch.test(json)
                      && (!decided
                          || fields.isEmpty()
                          || filter.matches(Subject.of(Json.read(json, fields))));
              return may ? form.apply(new Candidate(task, decided)) : null;
            });
    while (tasks.hasNext()) {
      if (!look.test(tasks.next())) {
        return true;
      }
    }
    return tasks.isWhole();
  }

  /**
   * How many tasks of each kind a queue has.
   *
   * @param queued with {@link TaskKind#QUEUED}
   * @param active with {@link TaskKind#ACTIVE}
   * @param held with {@link TaskKind#HELD}
   * @param finished with {@link TaskKind#FINISHED}
   */
  public record KindCounts(long queued, long active, long held, long finished) {
    static final KindCounts NONE = new KindCounts(0, 0, 0, 0);

    /** The tasks of one kind. */
    public long of(TaskKind kind) {
      return switch (kind) {
        case QUEUED -> queued;
        case ACTIVE -> active;
        case HELD -> held;
        case FINISHED -> finished;
      };
    }

    KindCounts plus(TaskKind kind, long more) {
      return switch (kind) {
        case QUEUED -> new KindCounts(queued + more, active, held, finished);
        case ACTIVE -> new KindCounts(queued, active + more, held, finished);
        case HELD -> new KindCounts(queued, active, held + more, finished);
        case FINISHED -> new KindCounts(queued, active, held, finished + more);
      };
    }
  }

  /** The kinds of status codes, by their meaning for the kernel task. */
  public enum TaskKind {
    /** {@link Status#QUEUED}. */
    QUEUED,
    /** {@link Status#CLAIMED} and {@link Status#RUNNING}. */
    ACTIVE,
    /** Every other negative one. */
    HELD,
    /** Every positive one. */
    FINISHED;

    /** The kind of a status code. */
    public static TaskKind of(int status) {
      if (status == Status.QUEUED) {
        return QUEUED;
      }
      if (Status.isActive(status)) {
        return ACTIVE;
      }
      return Status.isHeld(status) ? HELD : FINISHED;
    }
  }
}
