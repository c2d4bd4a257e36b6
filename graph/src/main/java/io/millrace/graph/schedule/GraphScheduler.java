package io.millrace.graph.schedule;

import io.millrace.graph.Attempt;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphWork;
import io.millrace.graph.NodeType;
import io.millrace.graph.NodeTypes;
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
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets a graph run: begins attempts at what is ready, as many at a time as there are places, and
 * brings their ends into the graph, with retries, timeouts and kills.
 *
 * <p>It does nothing by itself: whoever drives it calls {@link #step} when that is due, and at once
 * when it wakes them. A store that cannot be reached makes it wait, and so does nothing that a type
 * throws. {@link #step} is for one thread; all else may be called by any.
 */
public final class GraphScheduler implements Step, AutoCloseable {
  static final long NEVER_MILLIS = Long.MAX_VALUE;

  private static final Logger LOG = LoggerFactory.getLogger(GraphScheduler.class);
  private static final long PAUSE_MILLIS = 1_000;
  private static final Duration GRACE = Duration.ofSeconds(10);

  /** How many ends may wait to be written before no more attempts begin. */
  private static final int MOST_UNWRITTEN = 1_000;

  private final GraphWork graph;
  private final NodeTypes types;
  private final Executor executor;
  private final AttemptFolders folders;
  private final Beginnings beginnings;
  private final Choice choice;
  private final Roster roster = new Roster();
  private final Ends ends;
  private final Kills kills;
  private final ConcurrentLinkedQueue<News> inbox = new ConcurrentLinkedQueue<>();
  private volatile Runnable wake = () -> {};
  private volatile boolean closed;
  private volatile @Nullable StepLoop loop;
  private volatile int mostPlaces;
  private final int mostOthers;

  /** Whether everything that runs on record is in hand. */
  private boolean surveyed;

  /** Whether a survey is that of a start, so that files may be missing. */
  private boolean first = true;

  /** When the store is asked again after a failure, in milliseconds since 1970; 0 for none. */
  private long pausedUntilMillis;

  /**
   * A scheduler that has done nothing yet.
   *
   * @param graph what it lets run; no other scheduler may
   * @param types what nodes can be
   * @throws UncheckedIOException when its folder cannot be written
   */
  public GraphScheduler(
      GraphWork graph, NodeTypes types, SchedulerOptions options, Surroundings surroundings) {
    this.graph = graph;
    this.types = types;
    this.executor = surroundings.executor();
    try {
      this.folders = AttemptFolders.open(options.folder(), surroundings.launcher());
    } catch (IOException e) {
      throw new UncheckedIOException("the folder " + options.folder() + " cannot be used: " + e, e);
    }
    this.beginnings = new Beginnings(folders, surroundings.credentials());
    this.choice = new Choice(graph, types);
    this.ends = new Ends(graph, executor, this::tell);
    this.kills = new Kills(graph, roster, executor, this::tell);
    this.mostPlaces = options.places();
    this.mostOthers = options.others();
  }

  /** Calls the steps on a thread of its own, until it is closed. */
  public GraphScheduler start(InstantSource clock) {
    StepLoop steps = new StepLoop(Thread.ofVirtual().name("millrace-graph"), clock, this);
    wakeBy(steps::wake);
    loop = steps.start();
    return this;
  }

  /**
   * Says whom to wake when a step is due earlier than was said; quickly, and from any thread. To be
   * called once, before the first step.
   */
  public void wakeBy(Runnable alarm) {
    wake = alarm;
    graph.onChange(alarm);
    graph.readOutputsFrom(roster);
  }

  /**
   * Changes how many commands run at a time; nothing that runs is ended.
   *
   * @param places 0 to {@link SchedulerOptions#MOST_PLACES}
   */
  public void places(int places) {
    mostPlaces = places;
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

  /** When the next step is due. */
  private long stepAt(long nowMillis) {
    for (News news = inbox.poll(); news != null; news = inbox.poll()) {
      take(news, nowMillis);
    }
    kills.tellOverdue(nowMillis);
    if (nowMillis < pausedUntilMillis) {
      return Math.min(pausedUntilMillis, roster.nextDeadlineMillis());
    }
    try {
      if (!surveyed) {
        survey();
      }
      long again = Math.min(ends.write(nowMillis), kills.tellWanted(nowMillis));
      long start = start(nowMillis);
      return Math.min(Math.min(start, again), roster.nextDeadlineMillis());
    } catch (RuntimeException e) {
      LOG.warn("the graph cannot be scheduled, trying again: {}", e.toString());
      surveyed = false;
      return pause(nowMillis);
    }
  }

  private long pause(long nowMillis) {
    pausedUntilMillis = nowMillis + PAUSE_MILLIS;
    return Math.min(pausedUntilMillis, roster.nextDeadlineMillis());
  }

  private void take(News news, long nowMillis) {
    switch (news) {
      case News.Begun(Trial trial, Attempt attempt) -> {
        roster.begun(trial, attempt);
        kills.begun(trial);
      }
      case News.Over(Trial trial, Attempt.Ending ending) -> {
        roster.over(trial);
        ends.add(trial, ending, nowMillis);
      }
      case News.Untold(Trial trial) -> kills.untold(trial, nowMillis);
      case News.Written written -> {
        ends.written(written, nowMillis);
        if (written.stored()) {
          written
              .ends()
              .forEach(end -> {
                roster.remove(end.trial());
                executor.execute(() -> folders.remove(end.trial()));
              });
        }
      }
    }
  }

  /** Takes in hand what runs on record and is not: after a start, and where an answer was lost. */
  private void survey() {
    boolean complete = !first || folders.isSameBoot();
    Set<String> names = new HashSet<>();
    List<Trial> found = new ArrayList<>();
    for (GraphWork.Item item : graph.running()) {
      GraphNode node = item.node();
      int number = node.phase().attempt();
      names.add(Trial.name(node.id(), number));
      if (!roster.has(node.id(), number)) {
        found.add(new Trial(item, type(node), false));
      }
    }
    // Commands first: somebody may be reading what they put out.
    found.sort(Comparator.comparing(trial -> !trial.type.takesPlace()));
    for (Trial trial : found) {
      roster.add(trial);
      begin(trial, () -> beginnings.recover(trial, complete));
    }
    if (first) {
      // Listed before anything starts, and removed beside it.
      List<Path> left = folders.allBut(names);
      executor.execute(() -> left.forEach(AttemptFolders::remove));
    }
    surveyed = true;
    first = false;
  }

  private NodeType type(GraphNode node) {
    String name = node.definition().type();
    return types.find(name).orElseGet(() -> new LostType(name));
  }

  private long start(long nowMillis) {
    int places = mostPlaces - roster.places();
    int others = mostOthers - roster.others();
    if (ends.waiting() > MOST_UNWRITTEN) {
      return NEVER_MILLIS;
    }
    Choice.Chosen chosen = choice.choose(places, others, nowMillis);
    List<GraphWork.Item> started = chosen.ids().isEmpty() ? List.of() : graph.start(chosen.ids());
    for (GraphWork.Item item : started) {
      Trial trial = new Trial(item, type(item.node()), true);
      roster.add(trial);
      begin(trial, () -> beginnings.begin(trial));
    }
    if (started.size() < chosen.ids().size()) {
      // Others were faster, or the store's clock is a little behind.
      return nowMillis + PAUSE_MILLIS;
    }
    if (chosen.more()) {
      return nowMillis;
    }
    long due = graph.nextDueMillis().orElse(NEVER_MILLIS);
    // One that is due already, and for which there is no room, must not hide later ones.
    return due > nowMillis ? due : nowMillis + PAUSE_MILLIS;
  }

  private void begin(Trial trial, Callable<Attempt> beginning) {
    executor.execute(() -> {
      try {
        Attempt attempt = beginning.call();
        tell(new News.Begun(trial, attempt));
        var _ =
            attempt
                .onEnd()
                .whenComplete((ending, problem) ->
                    tell(new News.Over(trial, problem == null ? ending : failed(problem))));
      } catch (Exception | Error e) {
        tell(new News.Over(trial, failed(e)));
        if (e instanceof Error error) {
          throw error;
        }
      }
    });
  }

  private static Attempt.Ending failed(Throwable problem) {
    Throwable cause =
        problem instanceof CompletionException && problem.getCause() != null
            ? problem.getCause()
            : problem;
    String message = cause.getMessage();
    String reason = message == null || message.isBlank() ? cause.toString() : message;
    return new Attempt.Ending(reason, null, Map.of());
  }

  private void tell(News news) {
    inbox.add(news);
    wake.run();
  }

  /**
   * Ends the scheduling, and waits up to 10 seconds for a step that is under way. What runs goes
   * on, and the next scheduler of this graph finds it.
   */
  @Override
  public void close() {
    closed = true;
    wake.run();
    if (loop != null && !loop.close(GRACE)) {
      LOG.warn("the scheduler of graphs still waits for the store");
    }
  }
}
