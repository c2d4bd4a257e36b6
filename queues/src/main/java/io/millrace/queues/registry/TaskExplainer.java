package io.millrace.queues.registry;

import io.millrace.queues.NodeConfig;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.Queue.Health.Halt;
import io.millrace.queues.Queue.Health.Suspension;
import io.millrace.queues.QueueTask;
import io.millrace.queues.Run;
import io.millrace.queues.Status;
import io.millrace.store.Task;
import io.millrace.store.TaskStore.Read;
import io.millrace.work.Explanation;
import io.millrace.work.Explanation.Reason;
import io.millrace.work.Explanation.Related;
import io.millrace.work.policy.LimitReasons;
import io.millrace.work.policy.LimitReasons.Holders;
import io.millrace.work.policy.LimitReasons.Running;
import io.millrace.work.policy.LimitReasons.Sharing;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Finds out why a queue task has not been run yet. Reasons that end by themselves, such as a limit
 * that is reached, are given only for a task that could start now.
 */
final class TaskExplainer {
  private static final String TASK = "task";
  private static final String EXECUTION_NODE = "execution node";

  private final QueueSession session;
  private final Predicate<ObjectId> visible;
  private final Sharing sharing;
  private final List<Reason> reasons = new ArrayList<>();

  /**
   * An explainer for one task.
   *
   * @param visible whether the caller may see the tasks of a queue
   * @param sharing finds what uses up a shared limit
   */
  TaskExplainer(QueueSession session, Predicate<ObjectId> visible, Sharing sharing) {
    this.session = session;
    this.visible = visible;
    this.sharing = sharing;
  }

  Explanation explain(QueueTask task) {
    int status = task.status();
    boolean waiting = false;
    String because = task.progress().reason() == null ? "" : ": " + task.progress().reason();
    if (Status.isActive(status)) {
      add("running", "it was given to node " + task.progress().node() + " at " + since(task));
    } else if (Status.isFinished(status)) {
      add("ended", "it ended at " + since(task) + because);
    } else if (status == Status.CANCELLED
        || status == Status.TERMINATED
        || status == Status.ORPHANED) {
      add(
          "ended",
          "it has been %s since %s and runs again only if it is requeued%s"
              .formatted(Status.name(status), since(task), because));
    } else if (status != Status.QUEUED) {
      waiting = true;
      add(
          "held",
          "it has been %s since %s and starts only if it is requeued%s"
              .formatted(Status.name(status), since(task), because));
    } else {
      waiting = true;
      queued(task, because);
    }
    return new Explanation(TASK, task.id().hex(), Status.name(status), waiting, reasons);
  }

  private void add(String code, String message) {
    reasons.add(Reason.of(code, message));
  }

  private static Instant since(QueueTask task) {
    return Instant.ofEpochMilli(task.progress().mtimeMillis());
  }

  private void queued(QueueTask task, String because) {
    Optional<Queue> found = session.document(Keys.queue(task.queue())).map(Queue::read);
    if (found.isEmpty()) {
      add("queue_deleted", "its queue " + task.queue().hex() + " was deleted");
      return;
    }
    Queue queue = found.get();
    stopped(queue);
    List<Run> runs = session.all(Keys.RUNS).stream().map(Run::read).toList();
    Serving serving = serving(queue, runs);
    serving.unable().ifPresent(reasons::add);
    long due = task.progress().retries().notBeforeMillis();
    if (due > session.nowMillis()) {
      add("scheduled", "it is to start at " + Instant.ofEpochMilli(due) + " or later" + because);
    } else if (queue.settings().limit() > 0) {
      threads(queue, runs);
      limits(task, queue, runs);
      serving.busy().ifPresent(reasons::add);
    }
    if (reasons.isEmpty()) {
      add("turn", "it waits for its turn in queue " + queue.name());
    }
  }

  private void stopped(Queue queue) {
    Halt halt = queue.health().halt();
    if (halt != null) {
      add(
          "queue_halted",
          "queue %s was halted at %s because node %s cannot start runners for it: %s"
              .formatted(
                  queue.name(), Instant.ofEpochMilli(halt.atMillis()), halt.node(), halt.reason()));
    } else if (queue.settings().limit() == 0) {
      add("no_threads", "queue " + queue.name() + " is paused: its number of threads is 0");
    }
  }

  private void threads(Queue queue, List<Run> runs) {
    List<Run> running = runs.stream().filter(run -> run.queue().equals(queue.id())).toList();
    int threads = queue.settings().limit();
    if (running.size() >= threads) {
      add(
          "threads",
          "all threads of queue %s are taken (%d of %d)"
              .formatted(queue.name(), running.size(), threads),
          running,
          running.size());
    }
  }

  private void add(String code, String message, List<Run> behind, long total) {
    reasons.add(new Reason(code, message, Related.of(TASK, running(behind).ids(), total)));
  }

  private void limits(QueueTask task, Queue queue, List<Run> runs) {
    String key = task.policy().key().orElse("");
    reasons.addAll(
        new LimitReasons(session.store(), session.self(), TASK, "queue " + queue.name())
            .of(
                queue.settings().policy().throttling(),
                key,
                task.place().byOrigin(),
                new Holders(
                    () ->
                        running(
                            runs.stream().filter(run -> run.queue().equals(queue.id())).toList()),
                    () -> running(withKey(key, queue, runs)),
                    sharing)));
  }

  private Running running(List<Run> runs) {
    return running(runs, visible);
  }

  /** The tasks of runs, without the ids of those that the caller may not see. */
  static Running running(List<Run> runs, Predicate<ObjectId> visible) {
    List<String> ids =
        runs.stream()
            .filter(run -> visible.test(run.queue()))
            .map(run -> run.task().hex())
            .toList();
    return new Running(ids, runs.size());
  }

  /** Those of these runs that are of the queue and whose tasks have this key. */
  private List<Run> withKey(String key, Queue queue, List<Run> runs) {
    List<Run> running = runs.stream().filter(run -> run.queue().equals(queue.id())).toList();
    List<Optional<Task>> tasks =
        session.store().tasks(running.stream().map(run -> run.claim().ref()).toList()).value();
    List<Run> same = new ArrayList<>();
    for (int i = 0; i < running.size(); i++) {
      if (tasks.get(i).filter(task -> task.key().equals(key)).isPresent()) {
        same.add(running.get(i));
      }
    }
    return same;
  }

  /**
   * What keeps all execution nodes from taking tasks of a queue.
   *
   * @param unable if none of them would, even if it were idle
   * @param busy if those that would are busy
   */
  private record Serving(Optional<Reason> unable, Optional<Reason> busy) {}

  private Serving serving(Queue queue, List<Run> runs) {
    ConfigRegistry config = new ConfigRegistry(session);
    Read<List<NodeRecord>> nodes = new NodeRegistry(session).list();
    List<NodeRecord> alive =
        nodes.value().stream()
            .filter(node -> node.stateAt(nodes.timeMillis()) == NodeRecord.State.ALIVE)
            .toList();
    List<String> unable = new ArrayList<>();
    List<String> whyUnable = new ArrayList<>();
    List<String> busy = new ArrayList<>();
    for (NodeRecord node : alive) {
      Optional<String> why = cannotServe(node, queue, config.forNode(node.name()));
      if (why.isPresent()) {
        unable.add(node.name());
        whyUnable.add(node.name() + " " + why.get());
      } else if (isBusy(node, runs)) {
        busy.add(node.name());
      }
    }
    if (unable.size() == alive.size()) {
      String each =
          String.join("; ", whyUnable.subList(0, Math.min(unable.size(), Related.MAX_IDS)));
      return new Serving(
          Optional.of(
              new Reason(
                  "no_node",
                  alive.isEmpty()
                      ? "no execution node is running"
                      : "no execution node takes its tasks: " + each,
                  alive.isEmpty() ? Related.NONE : Related.of(EXECUTION_NODE, unable))),
          Optional.empty());
    }
    return new Serving(
        Optional.empty(),
        unable.size() + busy.size() < alive.size()
            ? Optional.empty()
            : Optional.of(
                new Reason(
                    "nodes_busy",
                    "all execution nodes that take its tasks are busy (maxthreads)",
                    Related.of(EXECUTION_NODE, busy))));
  }

  private static boolean isBusy(NodeRecord node, List<Run> runs) {
    Integer most = node.maxthreads();
    return most != null
        && runs.stream().filter(run -> run.node().equals(node.name())).count() >= most;
  }

  /** Why a node does not take tasks of a queue; empty if it does when it has room. */
  private static Optional<String> cannotServe(NodeRecord node, Queue queue, NodeConfig config) {
    if (!queue.settings().mayRunOn(node.name())) {
      return Optional.of("is not one of the queue's nodes (nodes_pin, nodes_ignore)");
    }
    if (!config.serves(node.name(), queue)) {
      return Optional.of("does not serve the queue (activequeues, ignorequeues)");
    }
    if (node.presence() == null || !node.presence().offers(queue.plugin())) {
      return Optional.of("does not have plugin " + queue.plugin());
    }
    Optional<Suspension> suspension =
        queue.health().suspensions().stream()
            .filter(each -> each.node().equals(node.name()))
            .findFirst();
    if (suspension.isPresent()) {
      return Optional.of("cannot start runners for it: " + suspension.get().reason());
    }
    return Integer.valueOf(0).equals(node.maxthreads())
        ? Optional.of("has maxthreads 0")
        : Optional.empty();
  }
}
