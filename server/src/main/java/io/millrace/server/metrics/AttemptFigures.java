package io.millrace.server.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.millrace.jobs.Assignment;
import io.millrace.jobs.Report;
import io.millrace.jobs.worker.JobObserver;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** What workers get and what comes of it, by type. Counted from the start of the server. */
final class AttemptFigures implements JobObserver {
  private final TypeLabels labels;
  private final Map<String, OfType> types = new HashMap<>();

  AttemptFigures(TypeLabels labels, MeterRegistry registry) {
    this.labels = labels;
    for (String label : labels.all()) {
      types.put(label, OfType.in(registry, label));
    }
  }

  private record OfType(
      Counter dispatched,
      Timer waited,
      Counter done,
      Counter failed,
      Counter returned,
      Counter refused) {

    static OfType in(MeterRegistry registry, String type) {
      Counter dispatched =
          Counter.builder("millrace.jobs.dispatched")
              .description("Jobs given to workers, each time anew")
              .tag("type", type)
              .register(registry);
      Timer waited =
          Timer.builder("millrace.jobs.wait")
              .description(
                  "The time from the submission of a job to the start of an attempt, for jobs that"
                      + " have not failed")
              .tag("type", type)
              .serviceLevelObjectives(
                  Duration.ofMillis(10),
                  Duration.ofMillis(100),
                  Duration.ofSeconds(1),
                  Duration.ofSeconds(10),
                  Duration.ofMinutes(1),
                  Duration.ofMinutes(10),
                  Duration.ofHours(1))
              .register(registry);
      return new OfType(
          dispatched,
          waited,
          ended(registry, type, "done"),
          ended(registry, type, "failed"),
          ended(registry, type, "returned"),
          ended(registry, type, "refused"));
    }

    private static Counter ended(MeterRegistry registry, String type, String outcome) {
      return Counter.builder("millrace.jobs.attempts")
          .description(
              "Attempts that ended: done, failed, returned for another worker; and results and"
                  + " failures refused since they came too late")
          .tag("type", type)
          .tag("outcome", outcome)
          .register(registry);
    }
  }

  private OfType of(String type) {
    return Objects.requireNonNull(types.get(labels.of(type)));
  }

  @Override
  public void dispatched(Assignment assignment, long waitedMillis) {
    OfType figures = of(assignment.job().type());
    figures.dispatched().increment();
    if (assignment.job().failures() == 0) {
      figures.waited().record(waitedMillis, TimeUnit.MILLISECONDS);
    }
  }

  @Override
  public void ended(Report report) {
    OfType figures = of(report.assignment().job().type());
    Counter outcome =
        switch (report) {
          case Report.Completed _ -> figures.done();
          case Report.Failed _ -> figures.failed();
          case Report.Returned _ -> figures.returned();
        };
    outcome.increment();
  }

  @Override
  public void refused(String type) {
    of(type).refused().increment();
  }
}
