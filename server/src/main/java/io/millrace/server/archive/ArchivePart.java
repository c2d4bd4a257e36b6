package io.millrace.server.archive;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.millrace.archive.Archive;
import io.millrace.archive.ArchiveException;
import io.millrace.archive.ArchiveSource;
import io.millrace.archive.ArchiveTable;
import io.millrace.archive.Archiver;
import io.millrace.http.ErrorResponses;
import io.millrace.http.Route;
import io.millrace.server.Part;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;

/** The archive, with what moves finished work of the other parts into it. */
public final class ArchivePart implements Part {
  private final Archive archive;
  private final Archiver archiver;
  private final ArchiveRoutes routes;
  private final RetentionRoutes retention;

  /**
   * A part that moves work from these sources into an archive, which it closes.
   *
   * @param archive the archive
   * @param settings say how long items stay there
   * @param routes its API
   * @param retention the API for how long work stays in the store
   */
  public ArchivePart(
      Archive archive,
      ArchiveSettings settings,
      List<ArchiveSource> sources,
      ArchiveRoutes routes,
      RetentionRoutes retention) {
    this.archive = archive;
    this.routes = routes;
    this.retention = retention;
    this.archiver = new Archiver(archive, settings.keep(), sources);
  }

  @Override
  public List<Route> routes() {
    return Stream.concat(routes.routes().stream(), retention.routes().stream()).toList();
  }

  @Override
  public void addErrorResponses(ErrorResponses responses) {
    responses.addUnavailable(ArchiveException.class);
  }

  @Override
  public Runnable measure(MeterRegistry registry) {
    for (ArchiveTable table : ArchiveTable.values()) {
      FunctionCounter.builder("millrace.archive.items", archiver, each -> each.archived(table))
          .tag("kind", table.word())
          .description("Finished items that were moved to the archive since the start")
          .register(registry);
    }
    FunctionCounter.builder("millrace.archive.failures", archiver, Archiver::failures)
        .description("Attempts to use the archive that have failed since the start")
        .register(registry);
    Gauge.builder("millrace.archive.available", archiver, each -> each.problem() == null ? 1 : 0)
        .description("1 if the last use of the archive succeeded, otherwise 0")
        .register(registry);
    Gauge.builder(
            "millrace.archive.lag", archiver, each -> each.lag(Instant.now()).toMillis() / 1000.0)
        .baseUnit("seconds")
        .description("For how long work has been waiting for the archive; 0 if none waits")
        .register(registry);
    return () -> {};
  }

  @Override
  public List<String> warnings() {
    String problem = archiver.problem();
    return problem == null
        ? List.of()
        : List.of("finished work stays in the store, since " + problem);
  }

  @Override
  public List<Activity> activities() {
    return List.of(new Activity("archiver", archiver));
  }

  @Override
  public void close() {
    archive.close();
  }
}
