package io.millrace.queues.node;

import io.millrace.queues.NodeConfig;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output.OutputRecovery;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.Run;
import io.millrace.queues.plugin.PluginDeclaration;
import io.millrace.queues.registry.Queues;
import io.millrace.queues.registry.Queues.Signal;
import io.millrace.store.Commit;
import io.millrace.work.Step;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An execution node: claims tasks of the queues that it serves, within their limits and its own,
 * and manages their runners.
 *
 * <pre>
 *   wait for the name ──► find runners again ──► serve ──► give back, leave ──► ended
 *                                                  │ name lost                    ▲
 *                                                  └──────────────────────────────┘
 * </pre>
 *
 * <p>It does nothing by itself: a {@link NodeDriver} or a simulation calls {@link #step} when that
 * is due, and at once when the node wakes it. If the store cannot be reached, the node waits; it
 * never ends. {@link #step} is for one thread; all else may be called by any.
 */
public final class ExecutionNode implements Step {
  private static final Logger LOG = LoggerFactory.getLogger(ExecutionNode.class);
  private static final long SECOND_NANOS = 1_000_000_000L;

  private enum Phase {
    NAMING,
    RECOVERING,
    SERVING,
    LEAVING,
    ENDED
  }

  private final String name;
  private final Runners runners;
  private final Plugins plugins;
  private final QueueBackend.Declarations declarations;
  private Map<String, PluginDeclaration> declared = Map.of();
  private boolean undeclared;
  private final NodeName nodeName;
  private final StoreBackoff storeBackoff;
  private final NodeLoop loop;
  private final ConcurrentLinkedQueue<News> inbox = new ConcurrentLinkedQueue<>();
  private final Runners.Listener listener = new InboxListener();
  private volatile Runnable wake = () -> {};
  private volatile Phase phase = Phase.NAMING;
  private volatile boolean nameLost;
  private Set<String> known = Set.of();
  private String mark = "";
  private long refreshAtNanos;
  private boolean stopping;

  /**
   * A node that has done nothing yet.
   *
   * @param runners carries out its runs; closed when the node has ended
   * @param machine looks at processes
   */
  public ExecutionNode(
      NodeOptions options, QueueBackend queues, Runners runners, Plugins plugins, Machine machine) {
    this.name = options.name();
    this.runners = runners;
    this.plugins = plugins;
    this.declarations = queues.declarations();
    this.nodeName = new NodeName(queues.nodes(), options, machine);
    this.storeBackoff = new StoreBackoff(name);
    this.loop = new NodeLoop(options, queues, runners, machine, () -> wake.run());
  }

  /** Sets what is called, by any thread and quickly, when a step is due earlier than expected. */
  public void wakeBy(Runnable call) {
    wake = call;
    call.run();
  }

  /** Sets what gets the configuration whenever it is read, on the thread of {@link #step}. */
  public void configure(Consumer<NodeConfig> look) {
    loop.configure(look);
  }

  /**
   * Sets what finds the output that lost runners have stored, before the first {@link #step}.
   * Without it, their tasks have no output.
   */
  public void recoverOutputBy(OutputRecovery finder) {
    loop.recoverOutputBy(finder);
  }

  /** Tells it news from the store. */
  public void notice(Signal signal) {
    tell(new News.Heard(signal));
  }

  /** Passes on all signals of a commit of {@link Queues#interest}. */
  public void notice(Commit commit) {
    commit.forEachDocument((key, document) -> {
      Signal signal = Queues.signal(key, document);
      // A request that was met, and so deleted, is no signal.
      if (document != null || signal instanceof Signal.SettingsChanged) {
        notice(signal);
      }
    });
  }

  /** Says that signals are received from now on, and that some may have been missed. */
  public void subscribed() {
    tell(new News.Subscribed());
  }

  /**
   * Requests the end of the node: it gives back its name and the claimed tasks that no runner has.
   * Running tasks go on.
   */
  public void stop() {
    tell(new News.StopAsked());
  }

  /** Whether it has its name and serves queues. */
  public boolean isServing() {
    return phase == Phase.SERVING;
  }

  /** Whether it has ended, or is about to, because another process has its name. */
  public boolean hasLostName() {
    return nameLost;
  }

  private void tell(News news) {
    inbox.add(news);
    wake.run();
  }

  /**
   * Does what is due.
   *
   * @param now by a clock that never goes back
   */
  @Override
  public Instant step(Instant now) {
    long wait = phase == Phase.ENDED ? 0 : step(Duration.between(Instant.EPOCH, now).toNanos());
    return phase == Phase.ENDED ? FINISHED : wait == Long.MAX_VALUE ? NEVER : now.plusNanos(wait);
  }

  /** Returns for how long nothing is due: 0 if more is due at once. */
  private long step(long nowNanos) {
    readInbox(nowNanos);
    long wait = storeBackoff.waitNanos(nowNanos);
    if (wait > 0) {
      return wait;
    }
    try {
      long next = act(nowNanos);
      if (storeBackoff.over()) {
        loop.mayHaveMissed();
        return 0;
      }
      return next;
    } catch (RuntimeException e) {
      loop.mayHaveMissed();
      return storeBackoff.failed(nowNanos, e);
    }
  }

  private long act(long nowNanos) {
    return switch (phase) {
      case NAMING -> takeName(nowNanos);
      case RECOVERING -> {
        loop.recover(nodeName.predecessor(), listener);
        LOG.info("node {} serves", name);
        phase = Phase.SERVING;
        yield 0;
      }
      case SERVING -> serve(nowNanos);
      case LEAVING -> leave();
      case ENDED -> 0;
    };
  }

  private long takeName(long nowNanos) {
    if (stopping) {
      return end();
    }
    lookAtPlugins();
    if (!nodeName.take(nowNanos, known)) {
      return SECOND_NANOS;
    }
    refreshAtNanos = nowNanos + SECOND_NANOS;
    declare();
    phase = Phase.RECOVERING;
    return 0;
  }

  private long serve(long nowNanos) {
    if (stopping) {
      loop.giveBackReady();
      phase = Phase.LEAVING;
      return 0;
    }
    NodeRecord record = nodeName.record();
    if (record == null) {
      throw new IllegalStateException("a node serves without its name");
    }
    if (nowNanos >= refreshAtNanos) {
      return refresh(record, nowNanos);
    }
    return loop.act(record, plugins, nowNanos)
        ? 0
        : Math.min(refreshAtNanos - nowNanos, loop.waitNanos(nowNanos));
  }

  private long refresh(NodeRecord before, long nowNanos) {
    if (lookAtPlugins()) {
      loop.settingsChanged();
    }
    @Nullable NodeRecord now = nodeName.refresh(before, known).orElse(null);
    if (now == null) {
      LOG.error(
          "node {} has lost its name to another process, or was removed; it ends, and its running"
              + " tasks go on",
          name);
      nameLost = true;
      loop.giveBackReady();
      phase = Phase.LEAVING;
      return 0;
    }
    refreshAtNanos = nowNanos + SECOND_NANOS;
    declare();
    loop.refreshed(before, now);
    return 0;
  }

  /** Reports what the plugins declare, if that may have changed. */
  private void declare() {
    if (undeclared) {
      declarations.put(name, declared);
      undeclared = false;
    }
  }

  /** Returns whether they have changed since the last look. */
  private boolean lookAtPlugins() {
    String found = plugins.mark();
    if (found.equals(mark)) {
      return false;
    }
    known = plugins.names();
    declared = plugins.declarations();
    undeclared = true;
    mark = found;
    return true;
  }

  private long leave() {
    if (loop.settle()) {
      return 0;
    }
    nodeName.leave();
    return end();
  }

  private long end() {
    phase = Phase.ENDED;
    runners.close();
    LOG.info("node {} has ended", name);
    return 0;
  }

  private void readInbox(long nowNanos) {
    for (News news = inbox.poll(); news != null; news = inbox.poll()) {
      switch (news) {
        case News.Heard(Signal signal) -> loop.hear(signal, nowNanos);
        case News.Subscribed() -> loop.mayHaveMissed();
        case News.Ended(ObjectId task) -> loop.ended(task);
        case News.Lost(ObjectId task, String reason) -> loop.lost(task, reason);
        case News.StopAsked() -> stopping = true;
      }
    }
  }

  /** The tasks that count for this node now, with where each of them is; for tests. */
  Map<ObjectId, Run> inHand() {
    return loop.inHand();
  }

  private final class InboxListener implements Runners.Listener {
    @Override
    public void begun() {
      wake.run();
    }

    @Override
    public void ended(ObjectId task) {
      tell(new News.Ended(task));
    }

    @Override
    public void lost(ObjectId task, String reason) {
      tell(new News.Lost(task, reason));
    }
  }

  /** What other threads tell the node between two steps. */
  private sealed interface News {
    /** The store has sent a signal. */
    record Heard(Signal signal) implements News {}

    /** Signals may have been missed; from now on they are received. */
    record Subscribed() implements News {}

    /** A runner has ended a task. */
    record Ended(ObjectId task) implements News {}

    /** A runner was lost. */
    record Lost(ObjectId task, String reason) implements News {}

    /** The node is to end. */
    record StopAsked() implements News {}
  }
}
