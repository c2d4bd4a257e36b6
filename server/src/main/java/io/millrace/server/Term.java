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
import io.millrace.queues.search.BulkTasks;
import io.millrace.server.MillraceServer.Setup;
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
import io.millrace.server.config.Configuration.Section;
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
import io.millrace.server.security.SessionCookies;
import io.millrace.server.security.Token;
import io.millrace.server.shards.ShardRoutes;
import io.millrace.server.shards.ShardedStore;
import io.millrace.server.store.StorePart;
import io.millrace.server.store.StoreSettings;
import io.millrace.server.traces.TracesPart;
import io.millrace.server.traces.TracesSettings;
import io.millrace.server.why.WhyPart;
import io.millrace.store.Command;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.wire.Placement;
import io.millrace.work.StepLoop;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a server runs on an open store: all parts, from when it leads the store to its end. Safe for
 * use by threads.
 */
final class Term implements AutoCloseable {
  private final EmbeddedTaskStore store;
  private final BlobStore blobs;
  private final List<Part> parts;
  private final AuditPart audit;
  private final @Nullable Principals principals;
  private final Metrics.Registry registry;
  private final HttpServer.Site site;
  private final List<StepLoop> loops = new ArrayList<>();

  private Term(
      EmbeddedTaskStore store,
      BlobStore blobs,
      List<Part> parts,
      AuditPart audit,
      @Nullable Principals principals,
      Metrics.Registry registry,
      HttpServer.Site site) {
    this.store = store;
    this.blobs = blobs;
    this.parts = parts;
    this.audit = audit;
    this.principals = principals;
    this.registry = registry;
    this.site = site;
  }

  /**
   * Of what the parts are built.
   *
   * @param setup of the server
   * @param store the store, or one shard of it; {@link Term#close} closes it
   * @param shards all shards; null if the store has none
   * @param followed who is let in with the principals of the first shard; null for a store without
   *     shards, or if the server does not listen
   * @param shard which one {@code store} is; 0 if it has none
   */
  record Ground(
      Setup setup,
      EmbeddedTaskStore store,
      @Nullable ShardedStore shards,
      @Nullable AccessCheck followed,
      int shard) {
    <S> S settings(Section<S> section) {
      return setup.configuration().get(section);
    }

    /** Whether the parts are those that a store has once. */
    boolean isHome() {
      return shard == Placement.HOME;
    }

    /** The folder for what the parts keep in files. */
    Path folder() {
      Path folder = settings(StoreSettings.SECTION).options().folder();
      return isHome() ? folder : folder.resolve("shard-" + shard);
    }

    /** Whether a queue or jobs of a type of this name belong to it. */
    boolean has(String name) {
      return shards == null || shards.placement().ofItem(name) == shard;
    }

    /** Throws an exception for commands of programs that belong to another shard. */
    Consumer<Command> check() {
      return shards == null || isHome()
          ? _ -> {}
          : new Placement(shards.placement().shards(), shard)::check;
    }
  }

  /** Builds the parts on a store, which {@link #close} closes. */
  static Term of(Ground ground) {
    EmbeddedTaskStore store = ground.store();
    ShardedStore shards = ground.shards();
    StoreOptions options = ground.settings(StoreSettings.SECTION).options();
    BlobStore blobs = ground.settings(BlobSettings.SECTION).open(ground.folder(), ground.shard());
    FilePermissions.warnIfShared("data folder", ground.folder());
    SecureRandom random = new SecureRandom();
    AuditPart audit =
        AuditPart.open(
            store,
            shards,
            ground.settings(AuditSettings.SECTION),
            random,
            options.limits().operations());
    AccessPart access = ground.isHome() ? access(ground, audit, random) : null;
    TracesPart traces =
        TracesPart.open(
            ground.settings(TracesSettings.SECTION), Version.text(), random, System::getenv);
    List<Part> parts = parts(ground, blobs, random, audit, access, traces);
    parts.add(
        new HistoryPart(List.copyOf(parts), () -> !store.disk().stuck(), InstantSource.system()));
    Metrics.Registry registry = new Metrics.Registry(Version.text(), true);
    if (shards != null && ground.isHome()) {
      shards.measure(registry);
    }
    ErrorResponses errorResponses = new ErrorResponses();
    parts.forEach(part -> part.addErrorResponses(errorResponses));
    Routes routes = new Routes(registry);
    routes.addAll(ownRoutes(store, ground.isHome() ? shards : null, parts, options, registry));
    if (ground.isHome()) {
      routes.addAll(ShardRoutes.of(shards));
    }
    routes.addAll(new OpenApiRoutes(routes::all, Version.text()).routes());
    parts.forEach(part ->
        routes.addAll(
            part.routes().stream().map(route -> StaleReads.atLeader(route, store)).toList()));
    return new Term(
        store,
        blobs,
        parts,
        audit,
        access == null ? null : access.principals(),
        registry,
        new HttpServer.Site(check(ground, access), routes, errorResponses, audit.trail()));
  }

  private static AccessPart access(Ground ground, AuditPart audit, SecureRandom random) {
    ServerSettings settings = ground.settings(ServerSettings.SECTION);
    return AccessPart.open(
        new RequestStore(ground.store(), audit.requests()),
        random,
        ground.settings(AccessSettings.SECTION),
        new AccessPart.Published(
            new SessionCookies(settings.origins(), settings.proxies()), settings.publicUrl()),
        ground.setup().localKey());
  }

  /**
   * Who is let in.
   *
   * @param access the principals; null if they are in another shard
   */
  private static AccessCheck check(Ground ground, @Nullable AccessPart access) {
    Setup setup = ground.setup();
    HttpServer.Endpoint endpoint = setup.endpoint();
    if (endpoint == null) {
      return AccessCheck.OPEN;
    }
    if (access == null) {
      return Objects.requireNonNull(ground.followed());
    }
    return Access.to(
        endpoint.address(),
        setup.token(),
        access.principals(),
        setup.requiresCredentials(),
        setup.front());
  }

  /**
   * The parts of the server; each is built on those before it.
   *
   * @param access the principals; null if they are in another shard
   */
  private static List<Part> parts(
      Ground ground,
      BlobStore blobs,
      SecureRandom random,
      AuditPart audit,
      @Nullable AccessPart access,
      TracesPart traces) {
    EmbeddedTaskStore store = ground.store();
    Token token = ground.setup().token();
    StoreOptions options = ground.settings(StoreSettings.SECTION).options();
    // Jobs and graphs commit changes of several requests together, on the thread of one of them.
    TaskStore shared = new RequestStore(store, null);
    TaskStore requests = new RequestStore(store, audit.requests());
    long maxBlobBytes = ground.settings(BlobSettings.SECTION).maxBytes();
    ArchiveSettings archiveSettings = ground.settings(ArchiveSettings.SECTION);
    Archive archive = archiveSettings.open(ground.folder());
    QueuesPart queues =
        QueuesPart.open(
            requests,
            blobs,
            archive,
            ground.settings(QueuesSettings.SECTION),
            new QueuesPart.Callers(
                token,
                traces.traces(),
                ground.isHome() ? ground.setup().queues() : null,
                ground::has),
            random,
            options.limits().dataBytes());
    traces.add(queues.queues()::spans);
    JobsPart jobs =
        JobsPart.open(
            ground.settings(JobsSettings.SECTION),
            new JobsPart.Base(
                store, shared, blobs, maxBlobBytes, archive, traces.traces(), ground::has),
            random);
    traces.add(jobs.jobs()::spans);
    GraphPart graph =
        GraphPart.open(
            ground.settings(GraphSettings.SECTION),
            new GraphPart.Base(
                shared,
                blobs,
                ground.folder(),
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
    List<Part> parts =
        new ArrayList<>(
            List.of(traces, new DashboardPart(ground.settings(DashboardSettings.SECTION)), audit));
    if (access != null) {
      List<ConfiguredPrincipal> configured = new ArrayList<>(jobs.principals());
      if (token != null) {
        configured.addFirst(new ConfiguredPrincipal(Caller.OWNER, "server.token-file"));
      }
      access.configured(configured);
      parts.add(access);
    }
    parts.add(
        new StorePart(
            store,
            ground.isHome() ? ground.shards() : null,
            ground.check(),
            options.limits().operations()));
    parts.add(new BlobApi(blobs, maxBlobBytes));
    if (access != null) {
      parts.add(new ClusterApi(requests, Clock.systemUTC()));
    }
    parts.addAll(
        List.of(
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
                List.of(
                    queues.retention(), jobs.retention(), graph.retention(schedules::parentNodes)),
                new ArchiveRoutes(
                    archive,
                    queues.queues().queues(),
                    jobs.jobs().types(),
                    archivedJobs,
                    graph.graph()),
                new RetentionRoutes(jobs.jobs().typeRetentions(), jobs.jobs().types()))));
    return parts;
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
    // Not before it serves, as clients wait for that in a takeover.
    registry.observeJvm();
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

  /** The principals; null if they are in another shard. */
  @Nullable Principals principals() {
    return principals;
  }

  /** Where it records requests. */
  AuditPart audit() {
    return audit;
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
