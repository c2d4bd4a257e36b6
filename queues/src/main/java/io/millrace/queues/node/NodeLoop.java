package io.millrace.queues.node;

import io.millrace.queues.NodeConfig;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output.OutputRecovery;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.QueueBackend.Runs.AwaitedRun;
import io.millrace.queues.Run;
import io.millrace.queues.Status;
import io.millrace.queues.registry.Queues.Signal;
import io.millrace.queues.registry.RunRegistry;
import io.millrace.work.DueTimes;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The work of a node while it has its name: one thing at a time, the most urgent first. */
final class NodeLoop {
  /** How often it compares its state with the store, although every change rings a bell. */
  private static final long LOOK_AROUND_NANOS = 60_000_000_000L;

  /**
   * How soon it looks again after a start or an outage, which may have left claims that are not on
   * record; with a second for what the clocks differ.
   */
  private static final long LOOK_AGAIN_NANOS = RunRegistry.UNTIL_RECORDED.plusSeconds(1).toNanos();

  private final NodeOptions options;
  private final QueueBackend queues;
  private final Runners runners;
  private final Machine machine;
  private final ActiveRuns active = new ActiveRuns();
  private final ServedQueues served;
  private final PendingReports reports;
  private final Handover handover;
  private final DueTimes<ObjectId> delayed = new DueTimes<>();
  private final Set<ObjectId> stops = new LinkedHashSet<>();
  private final StartPace pace = new StartPace();

  /** The claims that wait in the store for room within shared limits, by queue. */
  private final Map<ObjectId, AwaitedRun> awaited = new HashMap<>();

  private final Runnable wake;
  private Consumer<NodeConfig> configured = _ -> {};
  private OutputRecovery recovery = OutputRecovery.NOTHING;
  private NodeConfig config = NodeConfig.DEFAULTS;
  private boolean settingsDue = true;
  private boolean lookAroundDue = true;

  /** Whether there are tasks to claim, but it is another node's turn. */
  private boolean heldBack;

  private long lookAroundAtNanos = Long.MIN_VALUE;

  /**
   * A loop that has done nothing yet.
   *
   * @param wake called by any thread when there is something to do
   */
  NodeLoop(
      NodeOptions options, QueueBackend queues, Runners runners, Machine machine, Runnable wake) {
    this.wake = wake;
    this.options = options;
    this.queues = queues;
    this.runners = runners;
    this.machine = machine;
    this.served = new ServedQueues(options.name());
    this.reports = new PendingReports(options.name(), queues, served, active);
    this.handover = new Handover(runners, served, active, reports);
  }

  void configure(Consumer<NodeConfig> look) {
    configured = look;
  }

  void recoverOutputBy(OutputRecovery finder) {
    recovery = finder;
    reports.recoverOutputBy(finder);
  }

  /**
   * Takes over the runs that an earlier start of this node left behind. A run that no runner has
   * was never started and is given back, or its process is gone; if a process may live on another
   * machine, its claim decides.
   */
  void recover(@Nullable NodeIdentity predecessor, Runners.Listener listener) {
    liftSuspensions();
    List<Run> left = ours();
    Set<ObjectId> found = runners.recover(left, listener);
    for (Run run : left) {
      if (found.contains(run.task())) {
        active.put(run, ActiveRuns.Place.WITH_RUNNER);
        stops.add(run.task());
      } else if (run.status() == Status.CLAIMED) {
        reports.giveBack(run);
      } else if (wasHere(run, predecessor)) {
        reports.lost(run, "its runner was gone when node " + run.node() + " started");
      } else {
        active.put(run, ActiveRuns.Place.ELSEWHERE);
      }
    }
  }

  /**
   * Lifts suspensions: the problem that kept the last start of this node from starting runners may
   * be solved.
   */
  private void liftSuspensions() {
    for (Queue queue : queues.queues().all()) {
      if (queue.health().isSuspendedOn(options.name())) {
        queues.queues().lift(queue.id(), options.name());
      }
    }
  }

  private boolean wasHere(Run run, @Nullable NodeIdentity predecessor) {
    return (run.runner() != null && machine.isOurs(run.runner()))
        || (predecessor != null && predecessor.host().equals(machine.host()));
  }

  private List<Run> ours() {
    return queues.runs().ofNode(options.name());
  }

  void hear(Signal signal, long nowNanos) {
    switch (signal) {
      case Signal.Bell(ObjectId queue, List<Duration> delays) -> {
        served.ring(queue);
        delays.forEach(delay -> delayed.add(queue, delay, nowNanos));
      }
      case Signal.Stop(ObjectId task) -> stops.add(task);
      case Signal.SettingsChanged() -> settingsChanged();
    }
  }

  /** Signals may have been missed, or an answer was lost. */
  void mayHaveMissed() {
    settingsDue = true;
    lookAroundDue = true;
  }

  /** Queues, configuration or plugins have to be read again. */
  void settingsChanged() {
    settingsDue = true;
  }

  void refreshed(NodeRecord before, NodeRecord now) {
    if (before.place().task() != now.place().task()) {
      // Claims with the old definition were refused.
      served.ringAll();
    }
  }

  void ended(ObjectId task) {
    if (!active.hearsLast(task)) {
      return;
    }
    ActiveRuns.Place place = active.placeOf(task);
    if (place == ActiveRuns.Place.WITH_RUNNER || place == ActiveRuns.Place.ELSEWHERE) {
      active.find(task).ifPresent(run -> reports.started(run.queue()));
      active.remove(task);
    }
  }

  void lost(ObjectId task, String reason) {
    if (active.hearsLast(task) && active.placeOf(task) == ActiveRuns.Place.WITH_RUNNER) {
      active.find(task).ifPresent(run -> reports.lost(run, reason));
    }
  }

  /** Puts all runs that were not handed over on the list to be given back. */
  void giveBackReady() {
    for (AwaitedRun answer : awaited.values()) {
      answer.cancel();
      if (answer.isDone()) {
        answer.take().forEach(reports::giveBack);
      }
    }
    awaited.clear();
    active.in(ActiveRuns.Place.READY).forEach(reports::giveBack);
  }

  /** Makes one pending report; returns whether there was one. */
  boolean settle() {
    boolean some = !reports.none();
    reports.settleNext();
    return some;
  }

  /** Does the most urgent thing; returns whether there may be more to do. */
  boolean act(NodeRecord node, Plugins plugins, long nowNanos) {
    if (settle()) {
      return true;
    }
    if (settingsDue) {
      config = queues.config().forNode(options.name());
      served.reload(queues.queues().all(), config, plugins);
      configured.accept(config);
      prepareRunners(node);
      settingsDue = false;
      return true;
    }
    if (!stops.isEmpty()) {
      stopOne(stops.iterator().next());
      return true;
    }
    if (handover.next(config, nowNanos)) {
      return true;
    }
    if (lookAroundDue || nowNanos >= lookAroundAtNanos) {
      lookAround();
      expect(served.all(), nowNanos);
      prepareRunners(node);
      lookAroundAtNanos = nowNanos + (lookAroundDue ? LOOK_AGAIN_NANOS : LOOK_AROUND_NANOS);
      lookAroundDue = false;
      return true;
    }
    if (served.ringDue(delayed, nowNanos)) {
      Set<ObjectId> unread = delayed.takeUnread();
      expect(served.all().stream().filter(queue -> unread.contains(queue.id())).toList(), nowNanos);
      return true;
    }
    return claim(node, nowNanos);
  }

  /** How long there is nothing to do without news. */
  long waitNanos(long nowNanos) {
    long next =
        Math.min(
            Math.min(Math.max(0, lookAroundAtNanos - nowNanos), delayed.waitNanos(nowNanos)),
            handover.waitNanos(nowNanos));
    return heldBack ? Math.min(next, pace.waitNanos(nowNanos)) : next;
  }

  /** Prepares a runner, so that a first task need not wait for the start of a process. */
  private void prepareRunners(NodeRecord node) {
    Integer most = node.maxthreads();
    if (!served.isEmpty() && (most == null || most > 0)) {
      runners.prepare(config);
    }
  }

  private void stopOne(ObjectId task) {
    ActiveRuns.Place place = active.placeOf(task);
    // The request may be about an earlier run, so this reads the store.
    if (place != null && queues.runs().isToStop(task)) {
      switch (place) {
        case READY -> active.find(task).ifPresent(reports::giveBack);
        case WITH_RUNNER -> runners.stop(task, options.stopGrace());
        case ELSEWHERE, LEAVING -> {}
      }
    }
    stops.remove(task);
  }

  /** Compares its state with the store, and asks every queue. */
  private void lookAround() {
    Map<ObjectId, Run> recorded = new HashMap<>();
    ours().forEach(run -> recorded.put(run.task(), run));
    for (Run run : active.all()) {
      Run now = recorded.remove(run.task());
      if (active.placeOf(run.task()) == ActiveRuns.Place.LEAVING) {
        continue;
      }
      if (now == null) {
        active.removeUnheard(run.task());
      } else if (!now.claim().equals(run.claim())) {
        takeUp(now);
      } else {
        stops.add(run.task());
      }
    }
    recorded.values().forEach(this::takeUp);
    served.ringAll();
  }

  /** Learns when delayed tasks of these queues can be claimed. */
  private void expect(List<Queue> some, long nowNanos) {
    if (!some.isEmpty()) {
      queues
          .queues()
          .delays(some)
          .forEach((queue, delays) -> delayed.expect(queue, delays, nowNanos));
    }
  }

  /**
   * Takes over a recorded run that is not known here: an answer, or a message of its runner, was
   * lost.
   */
  private void takeUp(Run run) {
    if (run.status() == Status.CLAIMED) {
      reports.giveBack(run);
    } else {
      active.put(run, ActiveRuns.Place.ELSEWHERE);
    }
  }

  /** Takes the runs that were claimed while the node waited; returns whether there were any. */
  private boolean takeAwaited(NodeRecord node, long nowNanos) {
    boolean some = false;
    for (ObjectId queue : List.copyOf(awaited.keySet())) {
      AwaitedRun answer = awaited.get(queue);
      if (answer == null || !answer.isDone()) {
        continue;
      }
      awaited.remove(queue);
      for (Run run : answer.take()) {
        some = true;
        served.ring(queue);
        active.ready(run, nowNanos);
        if (node.maxthreads() != null && active.size() > node.maxthreads()) {
          // Tasks of other queues have taken its place meanwhile.
          reports.giveBack(run);
        }
      }
    }
    return some;
  }

  private void await(NodeRecord node, Queue queue) {
    if (!awaited.containsKey(queue.id())) {
      queues
          .runs()
          .await(node, queue, options.lease(), recovery, wake)
          .ifPresent(answer -> awaited.put(queue.id(), answer));
    }
  }

  private boolean claim(NodeRecord node, long nowNanos) {
    heldBack = false;
    if (takeAwaited(node, nowNanos)) {
      return true;
    }
    int free = node.maxthreads() == null ? Integer.MAX_VALUE : node.maxthreads() - active.size();
    if (free <= 0 || served.dueCount() == 0) {
      return false;
    }
    int idle = Math.max(0, runners.idle(config) - active.readyCount());
    int paced = pace.most(idle, runners.starting(), nowNanos);
    if (paced <= 0) {
      heldBack = true;
      return false;
    }
    @Nullable Queue queue = served.next().orElse(null);
    if (queue == null) {
      return false;
    }
    int share = Math.ceilDiv(Math.min(free, paced), served.dueCount());
    int most = Math.min(options.batch(), share);
    List<Run> runs = queues.runs().claim(node, queue, most, options.lease(), recovery);
    pace.claimed(runs.size() - idle);
    runs.forEach(run -> active.ready(run, nowNanos));
    if (runs.size() < most) {
      served.exhausted(queue.id());
      queues
          .queues()
          .pauseForLimits(queue)
          .ifPresent(pause -> {
            delayed.add(queue.id(), pause, nowNanos);
            await(node, queue);
          });
    }
    return true;
  }

  Map<ObjectId, Run> inHand() {
    Map<ObjectId, Run> runs = new HashMap<>();
    active.all().forEach(run -> runs.put(run.task(), run));
    return runs;
  }
}
