package io.millrace.graph.schedule;

import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphWork;
import io.millrace.graph.schedule.SchedulerContext.Credentials;
import io.millrace.graph.type.Attempt;
import io.millrace.graph.type.AttemptContext;
import io.millrace.graph.type.NodeType;
import io.millrace.graph.type.NodeTypes;
import io.millrace.work.Step;
import io.millrace.work.StepLoop;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a graph: it begins attempts at ready nodes, up to the number of places, and records their
 * ends in the graph, with retries, timeouts and kills.
 *
 * <p>It does nothing by itself: its driver calls {@link #step} when that is due, and at once when
 * the scheduler wakes it. If the store cannot be reached or a type throws an exception, the
 * scheduler tries again later. {@link #step} is for one thread; all other methods may be called by
 * any.
 */
public final class GraphScheduler implements Step, AutoCloseable {
  static final long NEVER_MILLIS = Long.MAX_VALUE;

  private static final Logger LOG = LoggerFactory.getLogger(GraphScheduler.class);
  private static final long PAUSE_MILLIS = 1_000;
  private static final Duration GRACE = Duration.ofSeconds(10);

  /** How many ends may wait to be recorded before attempts are no longer begun. */
  private static final int MAX_UNWRITTEN = 1_000;

  private final GraphWork graph;
  private final NodeTypes types;
  private final Executor executor;
  private final AttemptFolders folders;
  private final Credentials credentials;
  private final StartSelector choice;
  private final RunningAttempts running = new RunningAttempts();
  private final EndRecorder ends;
  private final KillDispatcher kills;
  private final ConcurrentLinkedQueue<SchedulerEvent> inbox = new ConcurrentLinkedQueue<>();
  private volatile Runnable wake = () -> {};
  private volatile boolean closed;
  private volatile @Nullable StepLoop loop;
  private volatile int maxPlaces;
  private final int maxOthers;

  /** Whether the attempts of all running nodes are known. */
  private boolean surveyed;

  /** Whether the next survey is the first one, so that files may be missing. */
  private boolean first = true;

  /** When the store is asked again after a failure, in milliseconds since 1970; 0 for no pause. */
  private long pausedUntilMillis;

  /**
   * Creates a scheduler, which does nothing before its first step.
   *
   * @param graph the graph to run; no other scheduler may run it
   * @param types the types of nodes
   * @throws UncheckedIOException if its folder cannot be written
   */
  public GraphScheduler(
      GraphWork graph, NodeTypes types, SchedulerOptions options, SchedulerContext context) {
    this.graph = graph;
    this.types = types;
    this.executor = context.executor();
    try {
      this.folders = AttemptFolders.open(options.folder(), context.launcher());
    } catch (IOException e) {
      throw new UncheckedIOException("the folder " + options.folder() + " cannot be used: " + e, e);
    }
    this.credentials = context.credentials();
    this.choice = new StartSelector(graph, types);
    this.ends = new EndRecorder(graph, context, this::tell);
    this.kills = new KillDispatcher(graph, running, executor, this::tell);
    this.maxPlaces = options.places();
    this.maxOthers = options.others();
  }

  /** Calls the steps on a thread of its own, until it is closed. */
  public GraphScheduler start(InstantSource clock) {
    StepLoop steps = new StepLoop(Thread.ofVirtual().name("millrace-graph"), clock, this);
    wakeBy(steps::wake);
    loop = steps.start();
    return this;
  }

  /**
   * Sets what to call when a step is due earlier than expected; it is called from any thread and
   * must be quick. To be called once, before the first step.
   */
  public void wakeBy(Runnable alarm) {
    wake = alarm;
    graph.onChange(alarm);
    graph.readOutputsFrom(running);
  }

  /**
   * Changes how many commands run at a time; running ones are not ended.
   *
   * @param places 0 to {@link SchedulerOptions#MAX_PLACES}
   */
  public void places(int places) {
    maxPlaces = places;
    wake.run();
  }

  @Override
  public Instant step(Instant now) {
    if (closed) {
      return FINISHED;
    }
    long due = stepAt(now.toEpochMilli());
    return due == NEVER_MILLIS ? NEVER : Instant.ofEpochMilli(due);
  }

  private long stepAt(long nowMillis) {
    for (SchedulerEvent news = inbox.poll(); news != null; news = inbox.poll()) {
      take(news, nowMillis);
    }
    kills.tellOverdue(nowMillis);
    if (nowMillis < pausedUntilMillis) {
      return Math.min(pausedUntilMillis, running.nextDeadlineMillis());
    }
    try {
      if (!surveyed) {
        survey();
      }
      graph.expire(nowMillis);
      long again = Math.min(ends.write(nowMillis), kills.tellWanted(nowMillis));
      again = Math.min(again, graph.permits().update(nowMillis));
      long start = start(nowMillis);
      return Math.min(Math.min(start, again), running.nextDeadlineMillis());
    } catch (RuntimeException e) {
      LOG.warn("the graph cannot be scheduled, trying again: {}", e.toString());
      surveyed = false;
      return pause(nowMillis);
    }
  }

  private long pause(long nowMillis) {
    pausedUntilMillis = nowMillis + PAUSE_MILLIS;
    return Math.min(pausedUntilMillis, running.nextDeadlineMillis());
  }

  private void take(SchedulerEvent news, long nowMillis) {
    switch (news) {
      case SchedulerEvent.Begun(ActiveAttempt active, Attempt attempt) -> {
        running.begun(active, attempt);
        kills.begun(active);
      }
      case SchedulerEvent.Over(ActiveAttempt active, Attempt.Ending ending) -> {
        running.over(active);
        ends.add(active, ending, nowMillis);
      }
      case SchedulerEvent.Untold(ActiveAttempt active) -> kills.untold(active, nowMillis);
      case SchedulerEvent.Written written -> {
        ends.written(written, nowMillis);
        if (written.stored()) {
          written
              .ends()
              .forEach(end -> {
                running.remove(end.active());
                executor.execute(() -> folders.remove(end.active()));
              });
        }
      }
    }
  }

  /**
   * Takes over the attempts that run according to the graph: after a start, and after a lost
   * answer.
   */
  private void survey() {
    boolean complete = !first || folders.isSameBoot();
    Set<String> names = new HashSet<>();
    List<ActiveAttempt> found = new ArrayList<>();
    for (GraphWork.Item item : graph.running()) {
      GraphNode node = item.node();
      int number = node.phase().attempt();
      names.add(ActiveAttempt.name(node.id(), number));
      if (!running.has(node.id(), number)) {
        found.add(new ActiveAttempt(item, type(node), false));
      }
    }
    // Commands first: their output may be read meanwhile.
    found.sort(Comparator.comparing(active -> !active.type.takesPlace()));
    for (ActiveAttempt active : found) {
      running.add(active);
      begin(active, () -> recover(active, complete));
    }
    if (first) {
      // Listed before anything starts, and removed in the background.
      List<Path> left = folders.allBut(names);
      executor.execute(() -> left.forEach(AttemptFolders::remove));
    }
    surveyed = true;
    first = false;
  }

  private NodeType type(GraphNode node) {
    String name = node.definition().type();
    return types.find(name).orElseGet(() -> new UnknownType(name));
  }

  private long start(long nowMillis) {
    int places = maxPlaces - running.places();
    int others = maxOthers - running.others();
    if (ends.waiting() > MAX_UNWRITTEN) {
      return NEVER_MILLIS;
    }
    StartSelector.Chosen chosen = choice.choose(places, others, nowMillis);
    List<GraphWork.Item> started = chosen.ids().isEmpty() ? List.of() : graph.start(chosen.ids());
    for (GraphWork.Item item : started) {
      ActiveAttempt active = new ActiveAttempt(item, type(item.node()), true);
      running.add(active);
      begin(active, () -> beginNew(active));
    }
    if (started.size() < chosen.ids().size()) {
      // Another change came first, or the store's clock is a little behind.
      return nowMillis + PAUSE_MILLIS;
    }
    if (chosen.more()) {
      return nowMillis;
    }
    long due = graph.nextDueMillis().orElse(NEVER_MILLIS);
    // A node that is due and has no room must not hide nodes that become due later.
    return due > nowMillis ? due : nowMillis + PAUSE_MILLIS;
  }

  private void begin(ActiveAttempt active, Callable<Attempt> beginning) {
    executor.execute(() -> {
      try {
        Attempt attempt = beginning.call();
        tell(new SchedulerEvent.Begun(active, attempt));
        var _ =
            attempt
                .onEnd()
                .whenComplete((ending, problem) ->
                    tell(
                        new SchedulerEvent.Over(
                            active, problem == null ? ending : failed(problem))));
      } catch (Exception | Error e) {
        tell(new SchedulerEvent.Over(active, failed(e)));
        if (e instanceof Error error) {
          throw error;
        }
      }
    });
  }

  /** Begins an attempt whose start has just been recorded. */
  private Attempt beginNew(ActiveAttempt active) {
    folders.prepare(active);
    Attempt attempt = active.type.start(context(active));
    folders.markBegun(active);
    return attempt;
  }

  /**
   * Finds an attempt again whose start is recorded, without knowing whether it has begun.
   *
   * @param complete whether no file is missing that was written for it
   * @return an attempt that was interrupted if nothing is left of it
   */
  private Attempt recover(ActiveAttempt active, boolean complete) throws IOException {
    Optional<Attempt> found = active.type.resume(context(active));
    if (found.isPresent()) {
      folders.markBegun(active);
      return found.get();
    }
    if (folders.hasBegun(active)) {
      return Attempt.ended(
          Attempt.Ending.interrupted("the server stopped, and what it had begun is gone"));
    }
    if (!complete) {
      return Attempt.ended(
          Attempt.Ending.interrupted(
              "the machine was restarted, and nothing shows whether it had begun"));
    }
    folders.clear(active);
    return beginNew(active);
  }

  private AttemptContext context(ActiveAttempt active) {
    return new AttemptContext(
        active.id,
        active.number,
        active.inputs,
        folders.folder(active),
        credentials.of(active.id, active.number));
  }

  private static Attempt.Ending failed(Throwable problem) {
    Throwable cause =
        problem instanceof CompletionException && problem.getCause() != null
            ? problem.getCause()
            : problem;
    String message = cause.getMessage();
    String reason = message == null || message.isBlank() ? cause.toString() : message;
    return Attempt.Ending.failed(reason);
  }

  private void tell(SchedulerEvent news) {
    inbox.add(news);
    wake.run();
  }

  /**
   * Ends the scheduling, and waits up to 10 seconds for the current step. Running attempts go on,
   * and the next scheduler of this graph finds them.
   */
  @Override
  public void close() {
    closed = true;
    wake.run();
    if (loop != null && !loop.close(GRACE)) {
      LOG.warn("the scheduler of graphs still waits for the store");
    }
  }

  /** Stands for a type that this server does not have, but an earlier server had. */
  private record UnknownType(String name) implements NodeType {
    @Override
    public Attempt start(AttemptContext work) {
      throw new IllegalStateException(
          "this server does not know the type \"" + name + "\" any more");
    }
  }
}
