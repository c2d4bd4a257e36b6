package io.millrace.server;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.millrace.archive.Archive;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.FileBlobStore;
import io.millrace.http.AccessCheck;
import io.millrace.http.ApiRoutes;
import io.millrace.http.AuditTrail;
import io.millrace.http.Caller;
import io.millrace.http.ErrorResponses;
import io.millrace.http.HttpServer;
import io.millrace.http.Route;
import io.millrace.http.Routes;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.HttpException;
import io.millrace.jobs.registry.ArchivedJobs;
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
import io.millrace.server.config.Configuration.Section;
import io.millrace.server.dashboard.DashboardPart;
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
import io.millrace.server.security.ProxySettings;
import io.millrace.server.security.SessionCookies;
import io.millrace.server.security.Token;
import io.millrace.server.store.StorePart;
import io.millrace.server.store.StoreSettings;
import io.millrace.server.traces.TracesPart;
import io.millrace.server.traces.TracesSettings;
import io.millrace.server.why.WhyPart;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.work.StepLoop;
import java.net.InetAddress;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One server: the embedded store and every API, on one port. It is ready once {@link #start} has
 * returned; {@code GET /health} then answers 200. Safe for use by threads.
 */
public final class MillraceServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(MillraceServer.class);

  /** The sections of the configuration that this server reads. */
  public static final List<Section<?>> SECTIONS =
      List.of(
          ServerSettings.SECTION,
          AccessSettings.SECTION,
          StoreSettings.SECTION,
          BlobSettings.SECTION,
          QueuesSettings.SECTION,
          JobsSettings.SECTION,
          GraphSettings.SECTION,
          ArchiveSettings.SECTION,
          AuditSettings.SECTION,
          TracesSettings.SECTION,
          LogSettings.SECTION);

  private final EmbeddedTaskStore store;
  private final BlobStore blobs;
  private final List<Part> parts;
  private final Principals principals;
  private final List<StepLoop> loops;
  private final @Nullable HttpServer listener;
  private final Routes routes;
  private final PrometheusMeterRegistry registry;

  private MillraceServer(
      EmbeddedTaskStore store,
      BlobStore blobs,
      List<Part> parts,
      Principals principals,
      @Nullable HttpServer listener,
      Routes routes,
      PrometheusMeterRegistry registry) {
    this.store = store;
    this.blobs = blobs;
    this.parts = parts;
    this.principals = principals;
    this.listener = listener;
    this.routes = routes;
    this.registry = registry;
    this.loops =
        parts.stream()
            .flatMap(part -> part.activities().stream())
            .map(activity ->
                StepLoop.start(activity.name(), InstantSource.system(), activity.step()))
            .toList();
  }

  /**
   * Opens the store of the configuration and listens. If other servers share it, waits until this
   * one leads it.
   *
   * @param configuration read from at least {@link #SECTIONS}
   * @throws ServerException if it cannot listen as configured
   * @throws io.millrace.store.StoreException if the store cannot be opened
   */
  public static MillraceServer start(Configuration configuration) {
    return start(configuration, StoreSettings::open);
  }

  /** The same for this process alone: nothing listens. */
  public static MillraceServer startWithoutHttp(Configuration configuration) {
    return start(configuration, StoreSettings::open, null);
  }

  /** The same with a store that {@code opener} opens; it is closed if the start fails. */
  static MillraceServer start(
      Configuration configuration, Function<StoreSettings, EmbeddedTaskStore> opener) {
    return start(configuration, opener, configuration.get(ServerSettings.SECTION).endpoint());
  }

  /** The same that listens at an end point, if there is one. */
  private static MillraceServer start(
      Configuration configuration,
      Function<StoreSettings, EmbeddedTaskStore> opener,
      HttpServer.@Nullable Endpoint endpoint) {
    ServerSettings settings = configuration.get(ServerSettings.SECTION);
    StoreSettings storeSettings = configuration.get(StoreSettings.SECTION);
    StoreOptions options = storeSettings.options();
    Token token = settings.tokenFile() == null ? null : Token.read(settings.tokenFile());

    EmbeddedTaskStore store = opener.apply(storeSettings);
    return orClose(
        store,
        () -> {
          BlobSettings blobSettings = configuration.get(BlobSettings.SECTION);
          BlobStore blobs = FileBlobStore.open(blobSettings.folder(options.folder()));
          FilePermissions.warnIfShared("data folder", options.folder());
          FilePermissions.warnIfShared("blob folder", blobSettings.folder(options.folder()));
          SecureRandom random = new SecureRandom();
          AuditPart audit =
              AuditPart.open(
                  store,
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
                      new SessionCookies(settings.origins(), settings.proxies()),
                      settings.publicUrl()));
          TracesPart traces =
              TracesPart.open(
                  configuration.get(TracesSettings.SECTION),
                  Version.text(),
                  random,
                  System::getenv);
          List<Part> parts =
              new ArrayList<>(
                  parts(
                      configuration,
                      new Foundation(store, blobs, token, random),
                      audit,
                      access,
                      traces));
          parts.add(
              new HistoryPart(
                  List.copyOf(parts), () -> !store.disk().stuck(), InstantSource.system()));
          PrometheusMeterRegistry registry = Metrics.registry(Version.text());
          ErrorResponses errorResponses = new ErrorResponses();
          parts.forEach(part -> part.addErrorResponses(errorResponses));
          Routes routes = new Routes(registry);
          routes.addAll(ownRoutes(store, parts, options, registry));
          routes.addAll(new OpenApiRoutes(routes::all, Version.text()).routes());
          parts.forEach(part -> routes.addAll(part.routes()));
          HttpServer listener = null;
          String url = "";
          if (endpoint != null) {
            InetAddress address = endpoint.address();
            AccessCheck check =
                Access.to(
                    address,
                    token,
                    access.principals(),
                    requiresCredentials(configuration) || !address.isLoopbackAddress(),
                    new ProxySettings(
                        settings.origins(), settings.proxies(), accessSettings.identity()));
            listener = listen(endpoint, settings, check, routes, errorResponses, audit.trail());
            listener.measure(registry);
            LOG.info(
                "listening on {} port {}{}",
                address.getHostAddress(),
                listener.port(),
                endpoint.certificate() == null ? "" : " with TLS");
            url = url(address, listener.port());
          }
          MillraceServer server =
              new MillraceServer(
                  store, blobs, parts, access.principals(), listener, routes, registry);
          for (Part part : parts) {
            part.start(url);
          }
          return server;
        });
  }

  /** Whether every caller needs credentials, also on this machine. */
  public static boolean requiresCredentials(Configuration configuration) {
    return configuration.get(ServerSettings.SECTION).requiresCredentials()
        || configuration.get(AccessSettings.SECTION).requiresCredentials();
  }

  private static HttpServer listen(
      HttpServer.Endpoint endpoint,
      ServerSettings settings,
      AccessCheck access,
      Routes routes,
      ErrorResponses errorResponses,
      AuditTrail audit) {
    try {
      return HttpServer.start(endpoint, settings.http(), access, routes, errorResponses, audit);
    } catch (HttpException e) {
      throw new ServerException(String.valueOf(e.getMessage()), e.getCause());
    }
  }

  /**
   * What the parts of a server share.
   *
   * @param token the server's token; null for none
   */
  private record Foundation(
      EmbeddedTaskStore store, BlobStore blobs, @Nullable Token token, SecureRandom random) {}

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
            new QueuesPart.Callers(token, traces.traces()),
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
        new DashboardPart(),
        audit,
        access,
        new StorePart(store, options.limits().operations()),
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
                (request, id) -> graph.explain(request, id, queues::explain, jobs::explain))),
        BulkPart.open(
            shared,
            List.of(new BulkTasks(queues.queues()), jobs.jobs().bulk(), graph.graph().bulk()),
            audit.log(),
            random),
        new LimitsPart(requests, queues.queues().queues(), random.nextLong(1L << 53)),
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

  /** Health and figures, of all parts together. */
  private static List<Route> ownRoutes(
      EmbeddedTaskStore store,
      List<Part> parts,
      StoreOptions options,
      PrometheusMeterRegistry registry) {
    List<Runnable> refreshing = parts.stream().map(part -> part.measure(registry)).toList();
    ApiRoutes own = ApiRoutes.below("").errors(ErrorForm.PROBLEM_DETAILS);
    own.role(Caller.Role.ANYONE).get("/health", new Health(store, parts, options.journaling()));
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

  /**
   * The result of {@code start}; if that fails in any way, {@code store} is closed, so that its
   * folder is free again.
   */
  static <T> T orClose(TaskStore store, Supplier<T> start) {
    try {
      return start.get();
    } catch (Throwable failure) {
      try {
        store.close();
      } catch (RuntimeException e) {
        // The reason why the start failed is more important.
        failure.addSuppressed(e);
      }
      throw failure;
    }
  }

  /** The address under which programs on this machine reach it; they need no TLS. */
  private static String url(InetAddress address, int port) {
    InetAddress reached = address.isAnyLocalAddress() ? InetAddress.getLoopbackAddress() : address;
    String host = reached.getHostAddress();
    return "http://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
  }

  /**
   * The port on which it listens.
   *
   * @throws IllegalStateException if it does not listen
   */
  public int port() {
    if (listener == null) {
      throw new IllegalStateException("the server was started without HTTP");
    }
    return listener.port();
  }

  /**
   * A part of the server, for programs in the same process.
   *
   * @param type its class, for example {@code JobsPart.class}
   */
  public <P extends Part> P part(Class<P> type) {
    return parts.stream()
        .filter(type::isInstance)
        .map(type::cast)
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("there is no part " + type.getName()));
  }

  /** All of its routes, in the order of the parts. */
  public List<Route> routes() {
    return routes.all();
  }

  /** The store that it serves, for parts that run in the same process; closed with the server. */
  public TaskStore store() {
    return store;
  }

  /**
   * Completes, with the cause, when the store has stopped by itself, for example after a failed
   * write; see {@link EmbeddedTaskStore#stopped}. The server then only answers that it has stopped,
   * and should be closed and started again.
   */
  public CompletableFuture<Throwable> stopped() {
    return store.stopped();
  }

  /** The principals of this server, and the keys of this process. */
  public Principals principals() {
    return principals;
  }

  /** The blobs that it serves, for parts that run in the same process. */
  public BlobStore blobs() {
    return blobs;
  }

  /** Finishes current requests, then closes the store and its journal. Closing twice is safe. */
  @Override
  public void close() {
    if (listener != null) {
      listener.stop();
    }
    // Activities use what parts close, such as the archive.
    loops.forEach(StepLoop::close);
    parts.reversed().forEach(Part::close);
    registry.close();
    store.close();
  }
}
