package io.millrace.server.schedules;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.millrace.graph.NodeId;
import io.millrace.http.ApiRoutes;
import io.millrace.http.ErrorResponses;
import io.millrace.http.Route;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.HttpProblem;
import io.millrace.schedules.Figures;
import io.millrace.schedules.ScheduleState.Counts;
import io.millrace.schedules.Schedules;
import io.millrace.schedules.SchedulesException;
import io.millrace.schedules.SchedulesException.InvalidScheduleException;
import io.millrace.schedules.SchedulesException.NoScheduleException;
import io.millrace.schedules.SchedulesException.ScheduleStateException;
import io.millrace.schedules.SchedulesException.StoreFullException;
import io.millrace.server.Part;
import io.millrace.store.TaskStore;
import java.time.Clock;
import java.util.List;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The schedules, with their API under {@code /schedules}. */
public final class SchedulesPart implements Part {
  private final Schedules schedules;
  private final List<LimitedTarget> targets;
  private Schedules.@Nullable Running running;

  private SchedulesPart(Schedules schedules, List<LimitedTarget> targets) {
    this.schedules = schedules;
    this.targets = targets;
  }

  /**
   * Opens the schedules.
   *
   * @param targets what schedules can run
   */
  public static SchedulesPart open(
      TaskStore store, List<LimitedTarget> targets, RandomGenerator random) {
    Schedules schedules = Schedules.in(store, List.copyOf(targets), Clock.systemUTC(), random);
    return new SchedulesPart(schedules, targets);
  }

  /** The nodes of the graph below which schedules add their runs. */
  public Set<NodeId> parentNodes() {
    return schedules.list("", "", Integer.MAX_VALUE, _ -> true).stream()
        .flatMap(view -> GraphTarget.parent(view.schedule().target()).stream())
        .collect(Collectors.toUnmodifiableSet());
  }

  /** The routes that only read the schedules of a store, for callers without a limited reach. */
  public static List<Route> reads(TaskStore store, RandomGenerator random) {
    Clock clock = Clock.systemUTC();
    ApiRoutes api = ApiRoutes.below("/schedules").errors(ErrorForm.PROBLEM_DETAILS);
    new ScheduleRoutes(Schedules.in(store, List.of(), clock, random), List.of(), clock)
        .addReadsTo(api);
    return api.routes();
  }

  @Override
  public List<Route> routes() {
    ApiRoutes api = ApiRoutes.below("/schedules").limitable().errors(ErrorForm.PROBLEM_DETAILS);
    new ScheduleRoutes(schedules, targets, Clock.systemUTC()).addTo(api);
    return api.routes();
  }

  @Override
  public void addErrorResponses(ErrorResponses responses) {
    addErrors(responses);
  }

  /** Defines the responses to exceptions of schedules. */
  public static void addErrors(ErrorResponses responses) {
    responses
        .add(InvalidScheduleException.class, SchedulesPart::malformed)
        .add(NoScheduleException.class, 404)
        .add(ScheduleStateException.class, 409)
        .addUnavailable(StoreFullException.class)
        .addUnavailable(SchedulesException.class);
  }

  private static HttpProblem malformed(InvalidScheduleException e) {
    String message = String.valueOf(e.getMessage());
    return HttpProblem.malformed(e.field().isEmpty() ? message : e.field() + ": " + message);
  }

  @Override
  public Runnable measure(MeterRegistry registry) {
    gauge(registry, "millrace.schedules", "Schedules", Figures::schedules);
    gauge(registry, "millrace.schedules.paused", "Schedules that are paused", Figures::paused);
    gauge(
        registry,
        "millrace.schedules.runs.active",
        "Runs of schedules that have not ended",
        Figures::activeRuns);
    counter(registry, "started", "Runs that schedules have started", Counts::started);
    counter(registry, "succeeded", "Runs of schedules that succeeded", Counts::succeeded);
    counter(registry, "failed", "Runs of schedules that failed", Counts::failed);
    counter(registry, "missed", "Times that passed without a run", Counts::missed);
    counter(registry, "skipped", "Runs left out since an earlier one went on", Counts::skipped);
    return () -> {};
  }

  private void gauge(
      MeterRegistry registry, String name, String meaning, ToDoubleFunction<Figures> value) {
    Gauge.builder(name, schedules.figures(), value).description(meaning).register(registry);
  }

  private void counter(
      MeterRegistry registry, String name, String meaning, ToLongFunction<Counts> value) {
    FunctionCounter.builder(
            "millrace.schedules.runs." + name,
            schedules.figures(),
            figures -> value.applyAsLong(figures.counts()))
        .description(meaning)
        .register(registry);
  }

  /** The schedules. */
  public Schedules schedules() {
    return schedules;
  }

  @Override
  public void start(String url) {
    running = schedules.run();
  }

  @Override
  public void close() {
    if (running != null) {
      running.close();
    }
  }
}
