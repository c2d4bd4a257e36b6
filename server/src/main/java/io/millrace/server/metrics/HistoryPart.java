package io.millrace.server.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.millrace.http.ApiRoutes;
import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.http.json.Json;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.Response;
import io.millrace.server.Part;
import io.millrace.store.StoreException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * How the work of the server went: figures that are read now and then, kept in memory for a day,
 * and shown by {@code GET /history}. Counts begin with the start of the server and only grow, so
 * rates follow from two samples. Safe for use by threads.
 */
public final class HistoryPart implements Part {
  /** The time between samples, of which those of the last hour are kept. */
  static final Duration INTERVAL = Duration.ofSeconds(10);

  /** The time between the samples that are kept for a day. */
  static final Duration COARSE_INTERVAL = Duration.ofMinutes(1);

  private static final Duration FINE_SPAN = Duration.ofHours(1);
  private static final Duration COARSE_SPAN = Duration.ofDays(1);

  private static final long MAX_MILLIS = 1L << 53;

  /** The sums over the series of a metric that have one of some values of a label. */
  private static final Map<String, ToDoubleFunction<MeterRegistry>> COUNTS = counts();

  private final List<Part> parts;
  private final BooleanSupplier canRead;
  private final InstantSource clock;
  private final Instant started;
  private final Deque<Sample> fine = new ArrayDeque<>();
  private final Deque<Sample> coarse = new ArrayDeque<>();
  private @Nullable MeterRegistry registry;
  private volatile @Nullable Sample latest;

  /** What was read at a time, by name. */
  private record Sample(long millis, Map<String, Double> figures) {}

  /**
   * A history that begins now.
   *
   * @param parts those whose work it shows
   * @param canRead whether the store answers reads at once
   * @param clock says when a sample was read
   */
  public HistoryPart(List<Part> parts, BooleanSupplier canRead, InstantSource clock) {
    this.parts = parts;
    this.canRead = canRead;
    this.clock = clock;
    this.started = clock.instant();
  }

  private static Map<String, ToDoubleFunction<MeterRegistry>> counts() {
    Map<String, ToDoubleFunction<MeterRegistry>> counts = new LinkedHashMap<>();
    counts.put(
        "tasks.done", counter("millrace.queue.attempts", "outcome", "succeeded", "finished"));
    counts.put("tasks.failed", counter("millrace.queue.attempts", "outcome", "failed", "orphaned"));
    counts.put("jobs.done", counter("millrace.jobs.attempts", "outcome", "done"));
    counts.put("jobs.failed", counter("millrace.jobs.attempts", "outcome", "failed"));
    counts.put("nodes.done", counter("millrace.graph.ends", "outcome", "finished"));
    counts.put("nodes.failed", counter("millrace.graph.ends", "outcome", "failed"));
    counts.put("tasks.starts", timer("millrace.queue.wait", Timer::count));
    counts.put("tasks.wait_seconds", timer("millrace.queue.wait", HistoryPart::seconds));
    counts.put("jobs.starts", timer("millrace.jobs.wait", Timer::count));
    counts.put("jobs.wait_seconds", timer("millrace.jobs.wait", HistoryPart::seconds));
    counts.put("nodes.starts", timer("millrace.graph.wait", Timer::count));
    counts.put("nodes.wait_seconds", timer("millrace.graph.wait", HistoryPart::seconds));
    counts.put("requests.done", timer("millrace.http.requests", Timer::count));
    counts.put("requests.seconds", timer("millrace.http.requests", HistoryPart::seconds));
    return counts;
  }

  private static ToDoubleFunction<MeterRegistry> counter(
      String name, String label, String... values) {
    Set<String> wanted = Set.of(values);
    return registry ->
        registry.find(name).counters().stream()
            .filter(counter -> wanted.contains(counter.getId().getTag(label)))
            .mapToDouble(Counter::count)
            .sum();
  }

  private static ToDoubleFunction<MeterRegistry> timer(
      String name, ToDoubleFunction<Timer> figure) {
    return registry -> registry.find(name).timers().stream().mapToDouble(figure).sum();
  }

  private static double seconds(Timer timer) {
    return timer.totalTime(TimeUnit.SECONDS);
  }

  @Override
  public Runnable measure(MeterRegistry registry) {
    this.registry = registry;
    return () -> {};
  }

  @Override
  public List<Activity> activities() {
    return List.of(new Activity("history", this::step));
  }

  private Instant step(Instant now) {
    Sample sample = read();
    if (sample != null) {
      keep(sample);
    }
    return now.plus(INTERVAL);
  }

  private synchronized void keep(Sample sample) {
    add(fine, sample, FINE_SPAN);
    Sample last = coarse.peekLast();
    // Half an interval of tolerance: the steps drift by some milliseconds.
    if (last == null
        || sample.millis() - last.millis()
            >= COARSE_INTERVAL.minus(INTERVAL.dividedBy(2)).toMillis()) {
      add(coarse, sample, COARSE_SPAN);
    }
  }

  private static void add(Deque<Sample> samples, Sample sample, Duration span) {
    samples.addLast(sample);
    while (samples.getFirst().millis() < sample.millis() - span.toMillis()) {
      samples.removeFirst();
    }
  }

  /** The figures as they are now, read at most four times a second; null if they cannot be read. */
  private @Nullable Sample read() {
    long now = clock.millis();
    Sample before = latest;
    if (before != null && now >= before.millis() && now < before.millis() + 250) {
      return before;
    }
    if (!canRead.getAsBoolean()) {
      return null;
    }
    Map<String, Double> figures = new LinkedHashMap<>();
    try {
      for (Part part : parts) {
        for (Level level : part.levels()) {
          figures.put(level.kind() + ".waiting", (double) level.waiting());
          figures.put(level.kind() + ".running", (double) level.running());
        }
      }
    } catch (StoreException e) {
      return null;
    }
    MeterRegistry meters = Objects.requireNonNull(registry);
    COUNTS.forEach((name, count) -> figures.put(name, count.applyAsDouble(meters)));
    Sample sample = new Sample(now, figures);
    latest = sample;
    return sample;
  }

  @Override
  public List<Route> routes() {
    ApiRoutes api = ApiRoutes.below("/history").errors(ErrorForm.PROBLEM_DETAILS);
    api.strictQuery(Set.of("minutes", "after")).get("", this::show);
    return api.routes();
  }

  private Response show(Request request) {
    long minutes = request.query().integer("minutes", 60, 1, COARSE_SPAN.toMinutes());
    return Json.response(shown(minutes, request.query().integer("after", 0, 0, MAX_MILLIS)));
  }

  /** The samples of the last minutes that were read after a time, and one of now. */
  ObjectNode shown(long minutes, long after) {
    List<Sample> shown = new ArrayList<>();
    Duration interval = minutes <= FINE_SPAN.toMinutes() ? INTERVAL : COARSE_INTERVAL;
    Sample now = read();
    synchronized (this) {
      long from = Math.max(clock.millis() - minutes * 60_000L, after + 1);
      Deque<Sample> kept = interval.equals(INTERVAL) ? fine : coarse;
      for (Iterator<Sample> newest = kept.descendingIterator(); newest.hasNext(); ) {
        Sample sample = newest.next();
        if (sample.millis() < from) {
          break;
        }
        shown.addFirst(sample);
      }
      if (now != null
          && now.millis() >= from
          && (shown.isEmpty() || shown.getLast().millis() < now.millis())) {
        shown.add(now);
      }
    }
    return columns(shown, interval);
  }

  /** The samples as a column for each figure, which takes a fraction of the room. */
  private ObjectNode columns(List<Sample> samples, Duration interval) {
    ObjectNode shown = Json.object();
    shown.put("started", started.toString());
    shown.put("interval_seconds", interval.toSeconds());
    ArrayNode times = shown.putArray("at");
    samples.forEach(sample -> times.add(sample.millis()));
    Set<String> names = samples.isEmpty() ? Set.of() : samples.getLast().figures().keySet();
    for (String name : names) {
      int dot = name.indexOf('.');
      ArrayNode column =
          shown.withObject("/" + name.substring(0, dot)).putArray(name.substring(dot + 1));
      for (Sample sample : samples) {
        double figure = sample.figures().getOrDefault(name, 0.0);
        if (figure == Math.rint(figure)) {
          column.add((long) figure);
        } else {
          column.add(Math.rint(figure * 1e6) / 1e6);
        }
      }
    }
    return shown;
  }
}
