package io.millrace.server;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.millrace.archive.Archive;
import io.millrace.blobs.BlobStore;
import io.millrace.http.AccessCheck;
import io.millrace.http.ApiRoutes;
import io.millrace.http.Caller;
import io.millrace.http.ErrorResponses;
import io.millrace.http.HttpServer;
import io.millrace.http.Route;
import io.millrace.http.Routes;
import io.millrace.http.message.ErrorForm;
import io.millrace.jobs.JobTypes;
import io.millrace.jobs.JobTypes.JobType;
import io.millrace.jobs.registry.ArchivedJobs;
import io.millrace.processes.FileTree;
import io.millrace.queues.search.BulkTasks;
import io.millrace.server.access.AccessPart;
import io.millrace.server.access.AccessSettings;
import io.millrace.server.archive.ArchivePart;
import io.millrace.server.archive.ArchiveRoutes;
import io.millrace.server.archive.ArchiveSettings;
import io.millrace.server.archive.RetentionRoutes;
import io.millrace.server.audit.AuditPart;
import io.millrace.server.audit.AuditSettings;
import io.millrace.server.blobs.BlobApi;
import io.millrace.server.blobs.BlobSettings;
import io.millrace.server.bulk.BulkPart;
import io.millrace.server.cluster.ClusterApi;
import io.millrace.server.config.Configuration;
import io.millrace.server.dashboard.DashboardPart;
import io.millrace.server.dashboard.DashboardSettings;
import io.millrace.server.graph.GraphPart;
import io.millrace.server.graph.GraphSettings;
import io.millrace.server.jobs.JobsPart;
import io.millrace.server.jobs.JobsSettings;
import io.millrace.server.limits.LimitsPart;
import io.millrace.server.metrics.HistoryPart;
import io.millrace.server.metrics.Metrics;
import io.millrace.server.metrics.QueueFigures;
import io.millrace.server.openapi.OpenApiRoutes;
import io.millrace.server.queues.CommandQueues;
import io.millrace.server.queues.QueuesPart;
import io.millrace.server.queues.QueuesSettings;
import io.millrace.server.schedules.GraphTarget;
import io.millrace.server.schedules.JobTarget;
import io.millrace.server.schedules.QueueTarget;
import io.millrace.server.schedules.SchedulesPart;
import io.millrace.server.security.Access;
import io.millrace.server.security.ConfiguredPrincipal;
import io.millrace.server.security.FilePermissions;
import io.millrace.server.security.Principals;
import io.millrace.server.security.ProxySettings;
import io.millrace.server.security.SessionCookies;
import io.millrace.server.security.Token;
import io.millrace.server.shards.ShardRoutes;
import io.millrace.server.shards.ShardedStore;
import io.millrace.server.store.StorePart;
import io.millrace.server.store.StoreSettings;
import io.millrace.server.traces.TracesPart;
import io.millrace.server.traces.TracesSettings;
import io.millrace.server.why.WhyPart;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.work.StepLoop;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a server runs on an open store: all parts, from when it leads the store to its end. Safe for
 * use by threads.
 */
final class Term implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Term.class);

  private final EmbeddedTaskStore store;
  private final BlobStore blobs;
  private final List<Part> parts;
  private final Principals principals;
  private final PrometheusMeterRegistry registry;
  private final HttpServer.Site site;
  private final List<StepLoop> loops = new ArrayList<>();

  private Term(
      EmbeddedTaskStore store,
      BlobStore blobs,
      List<Part> parts,
      Principals principals,
      PrometheusMeterRegistry registry,
      HttpServer.Site site) {
    this.store = store;
    this.blobs = blobs;
    this.parts = parts;
    this.principals = principals;
    this.registry = registry;
    this.site = site;
  }

  /**
   * Builds the parts on a store, which {@link #close} closes.
   *
   * @param token the server's token; null for none
   * @param queues those that the command interface serves; null for those of the store
   * @param shards all shards, if the store is the first one; null if it has none
   * @param address where the server listens; null if it does not
   */
  static Term of(
      Configuration configuration,
      @Nullable Token token,
      @Nullable CommandQueues queues,
      EmbeddedTaskStore store,
      @Nullable ShardedStore shards,
      @Nullable InetAddress address) {
    ServerSettings settings = configuration.get(ServerSettings.SECTION);
    StoreOptions options = configuration.get(StoreSettings.SECTION).options();
    BlobStore blobs = configuration.get(BlobSettings.SECTION).open(options.folder());
    FilePermissions.warnIfShared("data folder", options.folder());
    SecureRandom random = new SecureRandom();
    AuditPart audit =
        AuditPart.open(
            store,
            shards,
            configuration.get(AuditSettings.SECTION),
            random,
            options.limits().operations());
    AccessSettings accessSettings = configuration.get(AccessSettings.SECTION);
    AccessPart access =
        AccessPart.open(
            new RequestStore(store, audit.requests()),
            random,
            accessSettings,
            new AccessPart.Published(
                new SessionCookies(settings.origins(), settings.proxies()), settings.publicUrl()));
    TracesPart traces =
        TracesPart.open(
            configuration.get(TracesSettings.SECTION), Version.text(), random, System::getenv);
    List<Part> parts =
        new ArrayList<>(
            parts(
                configuration,
                new Foundation(store, shards, blobs, token, random, queues),
                audit,
                access,
                traces));
    parts.add(
        new HistoryPart(List.copyOf(parts), () -> !store.disk().stuck(), InstantSource.system()));
    PrometheusMeterRegistry registry = Metrics.registry(Version.text());
    Metrics.role(registry, true);
    if (shards != null) {
      shards.measure(registry);
    }
    ErrorResponses errorResponses = new ErrorResponses();
    parts.forEach(part -> part.addErrorResponses(errorResponses));
    Routes routes = new Routes(registry);
    routes.addAll(ownRoutes(store, shards, parts, options, registry));
    routes.addAll(ShardRoutes.of(shards));
    routes.addAll(new OpenApiRoutes(routes::all, Version.text()).routes());
    parts.forEach(part ->
        routes.addAll(
            part.routes().stream().map(route -> StaleReads.atLeader(route, store)).toList()));
    AccessCheck check =
        address == null
            ? AccessCheck.OPEN
            : Access.to(
                address,
                token,
                access.principals(),
                MillraceServer.requiresCredentials(configuration) || !address.isLoopbackAddress(),
                new ProxySettings(
                    settings.origins(), settings.proxies(), accessSettings.identity()));
    return new Term(
        store,
        blobs,
        parts,
        access.principals(),
        registry,
        new HttpServer.Site(check, routes, errorResponses, audit.trail()));
  }

  /**
   * Builds all parts once, on an empty store of their own, so that their classes are loaded when a
   * standby takes over. Without that, they are most of the time that a takeover takes.
   */
  static void warmUp() {
    try {
      Path folder = Files.createTempDirectory("millrace-warm-up-");
      try {
        Configuration usual =
            Configuration.read(
                MillraceServer.SECTIONS, null, Map.of("store.data", folder.toString()));
        EmbeddedTaskStore store = usual.get(StoreSettings.SECTION).open();
        try (Term built =
            MillraceServer.orClose(store, () -> of(usual, null, null, store, null, null))) {
          built.start(null, "");
        }
      } finally {
        FileTree.remove(folder);
      }
    } catch (IOException | RuntimeException e) {
      LOG.debug("the parts could not be built on an empty store", e);
    }
  }

  /**
   * What the parts of a server share.
   *
   * @param shards all shards, if the store is the first one; null if it has none
   * @param token the server's token; null for none
   * @param queues those that the command interface serves; null for those of the store
   */
  private record Foundation(
      EmbeddedTaskStore store,
      @Nullable ShardedStore shards,
      BlobStore blobs,
      @Nullable Token token,
      SecureRandom random,
      @Nullable CommandQueues queues) {}

  /** The parts of the server; each is built on those before it. */
  private static List<Part> parts(
      Configuration configuration,
      Foundation foundation,
      AuditPart audit,
      AccessPart access,
      TracesPart traces) {
    EmbeddedTaskStore store = foundation.store();
    BlobStore blobs = foundation.blobs();
    Token token = foundation.token();
    SecureRandom random = foundation.random();
    StoreOptions options = configuration.get(StoreSettings.SECTION).options();
    // Jobs and graphs commit changes of several requests together, on the thread of one of them.
    TaskStore shared = new RequestStore(store, null);
    TaskStore requests = new RequestStore(store, audit.requests());
    long maxBlobBytes = configuration.get(BlobSettings.SECTION).maxBytes();
    ArchiveSettings archiveSettings = configuration.get(ArchiveSettings.SECTION);
    Archive archive = archiveSettings.open(options.folder());
    QueuesPart queues =
        QueuesPart.open(
            requests,
            blobs,
            archive,
            configuration.get(QueuesSettings.SECTION),
            new QueuesPart.Callers(token, traces.traces(), foundation.queues()),
            random,
            options.limits().dataBytes());
    traces.add(queues.queues()::spans);
    JobsPart jobs =
        JobsPart.open(
            configuration.get(JobsSettings.SECTION),
            new JobsPart.Base(store, shared, blobs, maxBlobBytes, archive, traces.traces()),
            random);
    traces.add(jobs.jobs()::spans);
    GraphPart graph =
        GraphPart.open(
            configuration.get(GraphSettings.SECTION),
            new GraphPart.Base(
                shared,
                blobs,
                options.folder(),
                queues.queues(),
                queues.archived(),
                jobs.jobs(),
                archive),
            random);
    ArchivedJobs archivedJobs = new ArchivedJobs(archive, blobs);
    SchedulesPart schedules =
        SchedulesPart.open(
            requests,
            List.of(
                new QueueTarget(queues.queues(), queues.archived(), traces.traces()),
                new JobTarget(jobs.jobs(), archivedJobs, traces.traces()),
                new GraphTarget(graph)),
            random);
    audit.reachesNodeBy(graph::reaches);
    List<ConfiguredPrincipal> configured = new ArrayList<>(jobs.principals());
    if (token != null) {
      configured.addFirst(new ConfiguredPrincipal(Caller.OWNER, "server.token-file"));
    }
    access.configured(configured);
    return List.of(
        traces,
        new DashboardPart(configuration.get(DashboardSettings.SECTION)),
        audit,
        access,
        new StorePart(store, foundation.shards(), options.limits().operations()),
        new BlobApi(blobs, maxBlobBytes),
        new ClusterApi(requests, Clock.systemUTC()),
        queues,
        new QueueFigures(queues.queues(), store),
        jobs,
        graph,
        schedules,
        new WhyPart(
            Map.of(
                "task",
                queues::explain,
                "job",
                jobs::explain,
                "node",
                (request, id, sharing) ->
                    graph.explain(request, id, sharing, queues::explain, jobs::explain)),
            Map.of("task", queues::sharing, "job", jobs::sharing, "node", graph::sharing)),
        BulkPart.open(
            shared,
            List.of(new BulkTasks(queues.queues()), jobs.jobs().bulk(), graph.graph().bulk()),
            audit.log(),
            random),
        new LimitsPart(
            store,
            requests,
            queues.queues().queues(),
            typeNames(jobs.jobs().types()),
            graph::limited,
            random.nextLong(1L << 53)),
        new ArchivePart(
            archive,
            archiveSettings,
            List.of(queues.retention(), jobs.retention(), graph.retention(schedules::parentNodes)),
            new ArchiveRoutes(
                archive,
                queues.queues().queues(),
                jobs.jobs().types(),
                archivedJobs,
                graph.graph()),
            new RetentionRoutes(jobs.jobs().typeRetentions(), jobs.jobs().types())));
  }

  private static List<String> typeNames(JobTypes types) {
    return types.all().isEmpty() ? List.of("") : types.all().stream().map(JobType::name).toList();
  }

  /** Health and figures, of all parts together. */
  private static List<Route> ownRoutes(
      EmbeddedTaskStore store,
      @Nullable ShardedStore shards,
      List<Part> parts,
      StoreOptions options,
      PrometheusMeterRegistry registry) {
    List<Runnable> refreshing = parts.stream().map(part -> part.measure(registry)).toList();
    ApiRoutes own = ApiRoutes.below("").errors(ErrorForm.PROBLEM_DETAILS);
    Health health = new Health(store, shards, parts, options.journaling());
    own.role(Caller.Role.ANYONE).get("/health", health);
    own.role(Caller.Role.ANYONE).get("/health/leader", health);
    own.get(
        "/metrics",
        request -> {
          // Without room on the disk reads may wait; the last figures are shown then.
          if (!store.disk().stuck()) {
            refreshing.forEach(Runnable::run);
          }
          return Metrics.scrape(registry, request.header("Accept").orElse(""));
        });
    return own.routes();
  }

  /** What it serves. */
  HttpServer.Site site() {
    return site;
  }

  /**
   * Starts the parts and their activities.
   *
   * @param listener what listens; null for nothing
   * @param url the address under which programs on this machine reach it; empty for none
   */
  void start(@Nullable HttpServer listener, String url) {
    if (listener != null) {
      listener.measure(registry);
    }
    parts.stream()
        .flatMap(part -> part.activities().stream())
        .map(activity -> StepLoop.start(activity.name(), InstantSource.system(), activity.step()))
        .forEach(loops::add);
    parts.forEach(part -> part.start(url));
  }

  EmbeddedTaskStore store() {
    return store;
  }

  BlobStore blobs() {
    return blobs;
  }

  List<Part> parts() {
    return parts;
  }

  Principals principals() {
    return principals;
  }

  /** Ends what it runs, then closes the store. Closing twice is safe. */
  @Override
  public void close() {
    // Activities use what parts close, such as the archive.
    loops.forEach(StepLoop::close);
    parts.reversed().forEach(Part::close);
    registry.close();
    blobs.close();
    store.close();
  }
}
