package io.millrace.queues.search;

import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.QueuesException.StoreFullException;
import io.millrace.queues.Status;
import io.millrace.queues.TaskAction;
import io.millrace.queues.registry.Queues;
import io.millrace.queues.registry.TaskIndex;
import io.millrace.queues.registry.TaskIndex.Candidate;
import io.millrace.work.bulk.BulkException.BulkFullException;
import io.millrace.work.bulk.BulkException.InvalidBulkException;
import io.millrace.work.bulk.BulkOrder;
import io.millrace.work.bulk.BulkProgress.Skip;
import io.millrace.work.bulk.BulkTarget;
import io.millrace.work.filter.FieldPath;
import io.millrace.work.filter.Filter;
import io.millrace.work.filter.FilterException;
import io.millrace.work.filter.FilterFields;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Bulk actions on queue tasks, in the order of their ids. Filters are those of searches; queues may
 * be named, and so may statuses.
 */
public final class BulkTasks implements BulkTarget<BulkTasks.TaskItem> {
  /** How many tasks a page looks at before it ends without being full. */
  private static final int MAX_LOOKED_AT = 20_000;

  private static final List<String> FIELDS =
      List.of(
          "_id",
          "queue",
          "status",
          "node",
          "ctime",
          "mtime",
          "params",
          "reason",
          "orphaned",
          "attempt",
          "snoozed",
          "not_before",
          "started",
          "tags");

  private static final Map<String, Integer> STATUSES =
      IntStream.rangeClosed(Status.ORPHANED, Status.FAILED)
          .boxed()
          .collect(Collectors.toUnmodifiableMap(Status::name, status -> status));

  private final Queues queues;
  private final TaskSearch search;

  /** Of these queues. */
  public BulkTasks(Queues queues) {
    this.queues = queues;
    this.search = TaskSearch.in(queues);
  }

  @Override
  public String kind() {
    return "tasks";
  }

  @Override
  public List<String> actions() {
    return List.of("retry", "requeue", "cancel", "block", "terminate", "delete", "move");
  }

  @Override
  public BulkOrder prepare(BulkOrder order) {
    var _ = filter(order);
    BulkTarget.checkOptions(
        order,
        switch (order.action()) {
          case "cancel", "block" -> Set.of("reason");
          case "move" -> Set.of("queue");
          default -> Set.of();
        });
    BulkOrder prepared = order.action().equals("move") ? withQueueId(order) : order;
    var _ = action(prepared);
    return prepared;
  }

  private BulkOrder withQueueId(BulkOrder order) {
    String name = order.options().get("queue");
    if (name == null) {
      throw new InvalidBulkException("the action move needs the option queue");
    }
    Queue queue =
        queues
            .queues()
            .find(name)
            .filter(found -> isReached(order.reach(), found.name()))
            .orElseThrow(() -> new InvalidBulkException("there is no queue " + name));
    return order.with(Map.of("queue", queue.id().hex()));
  }

  private static boolean isReached(@Nullable Set<String> reach, String name) {
    return reach == null || reach.stream().anyMatch(name::startsWith);
  }

  private static TaskAction action(BulkOrder order) {
    String reason = order.options().getOrDefault("reason", "");
    try {
      return switch (order.action()) {
        case "retry" -> new TaskAction.Requeue(true);
        case "requeue" -> new TaskAction.Requeue(false);
        case "cancel" -> new TaskAction.Hold(Status.CANCELLED, reason);
        case "block" -> new TaskAction.Hold(Status.BLOCKED, reason);
        case "terminate" -> new TaskAction.Terminate();
        case "delete" -> new TaskAction.Delete();
        case "move" -> new TaskAction.Move(new ObjectId(order.options().getOrDefault("queue", "")));
        default -> throw new InvalidBulkException("there is no action " + order.action());
      };
    } catch (InvalidRequestException e) {
      throw new InvalidBulkException(String.valueOf(e.getMessage()));
    }
  }

  private Filter filter(BulkOrder order) {
    return Filter.read(order.filter(), new Fields());
  }

  private Queue queue(String name) {
    return queues
        .queues()
        .find(name)
        .orElseThrow(() -> new FilterException("there is no queue " + name));
  }

  /** As in searches, with names, and without fields that no task has. */
  private final class Fields implements FilterFields {
    @Override
    public void check(FieldPath path) {
      FilterFields.checkKnown("tasks", path, FIELDS);
    }

    @Override
    public JsonNode value(String field, JsonNode value) {
      if (value.isString() && field.equals("status")) {
        Integer status = STATUSES.get(value.asString());
        if (status == null) {
          throw new FilterException(
              "there is no status %s, only %s, and numbers"
                  .formatted(value.asString(), STATUSES.keySet().stream().sorted().toList()));
        }
        return JsonNodeFactory.instance.numberNode(status);
      }
      return TaskFilter.value(field, value, name -> Optional.of(queue(name).id()));
    }
  }

  /**
   * A task as it was read.
   *
   * @param task the task
   * @param scope the name of its queue; empty if the queue was deleted
   */
  public record TaskItem(QueueTask task, String scope) implements Item {
    @Override
    public String id() {
      return task.id().hex();
    }

    @Override
    public String summary() {
      String status = Status.name(task.status());
      return scope.isEmpty() ? status : status + ", queue " + scope;
    }
  }

  @Override
  public Selection<TaskItem> select(BulkOrder order, long givenMillis) {
    return new Chosen(order, givenMillis);
  }

  private final class Chosen implements Selection<TaskItem> {
    private final TaskAction action;
    private final Filter filter;
    private final @Nullable Set<String> reach;
    private final long givenMillis;
    private final TaskIndex index = queues.index();

    /** The tasks that can match, if that is known without reading all; null otherwise. */
    private final @Nullable NavigableSet<String> candidates;

    private final Map<ObjectId, String> names = new HashMap<>();

    Chosen(BulkOrder order, long givenMillis) {
      this.action = action(order);
      this.filter = filter(order);
      this.reach = order.reach();
      this.givenMillis = givenMillis;
      this.candidates = search.candidates(filter);
    }

    @Override
    public Page<TaskItem> page(String after, int most) {
      Reading reading = new Reading(after, most);
      if (candidates == null) {
        var _ = index.oldestFirst(filter, after, Long.MAX_VALUE, Candidate::read, reading::take);
      } else {
        for (String id : candidates.tailSet(after, false)) {
          Optional<QueueTask> task = queues.tasks().find(new ObjectId(id));
          if (task.isPresent() && !reading.take(task.get())) {
            break;
          }
        }
      }
      return new Page<>(reading.items, reading.last, reading.isLast);
    }

    /** A page while it is read. */
    private final class Reading {
      private final int most;
      private final List<TaskItem> items = new ArrayList<>();
      private String last;
      private int lookedAt;
      private boolean isLast = true;

      Reading(String after, int most) {
        this.last = after;
        this.most = most;
      }

      boolean take(QueueTask task) {
        last = task.id().hex();
        if (isChosen(task)) {
          items.add(new TaskItem(task, name(task.queue())));
        }
        isLast = items.size() < most && ++lookedAt < MAX_LOOKED_AT;
        return isLast;
      }
    }

    private boolean isChosen(QueueTask task) {
      return action.appliesTo(task)
          && task.ctimeMillis() <= givenMillis
          && filter.matches(TaskFilter.subject(task))
          && (reach == null || isReached(name(task.queue())));
    }

    /** Whether a queue is in reach; tasks of deleted queues are not. */
    private boolean isReached(String name) {
      return !name.isEmpty() && BulkTasks.isReached(reach, name);
    }

    private String name(ObjectId queue) {
      return names.computeIfAbsent(
          queue, id -> queues.queues().find(id).map(Queue::name).orElse(""));
    }

    @Override
    public boolean apply(List<TaskItem> items, Joint joint) {
      if (action instanceof TaskAction.Move(ObjectId queue)
          && queues.queues().find(queue).isEmpty()) {
        throw new InvalidBulkException("the queue to which tasks are moved was deleted");
      }
      try {
        return queues
                .taskChanges()
                .apply(
                    action,
                    items.stream().map(TaskItem::task).toList(),
                    (transaction, skipped) ->
                        joint.commit(
                            transaction,
                            skipped.entrySet().stream()
                                .map(skip -> new Skip(skip.getKey().hex(), skip.getValue()))
                                .toList()))
            != null;
      } catch (StoreFullException e) {
        throw new BulkFullException(String.valueOf(e.getMessage()));
      }
    }
  }
}
