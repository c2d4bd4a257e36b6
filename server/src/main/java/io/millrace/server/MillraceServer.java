package io.millrace.server;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.FileBlobStore;
import io.millrace.jobs.InvalidJobException;
import io.millrace.jobs.JobTypes;
import io.millrace.jobs.dispatch.JobDispatcher;
import io.millrace.jobs.registry.JobSweeper;
import io.millrace.jobs.registry.Jobs;
import io.millrace.jobs.worker.PolledWorkers;
import io.millrace.jobs.worker.WorkerManager;
import io.millrace.queues.Queues;
import io.millrace.queues.Sweeper;
import io.millrace.server.blobs.BlobApi;
import io.millrace.server.blobs.BlobSettings;
import io.millrace.server.cluster.ClusterApi;
import io.millrace.server.config.Configuration;
import io.millrace.server.config.Section;
import io.millrace.server.graph.GraphPart;
import io.millrace.server.graph.GraphSettings;
import io.millrace.server.http.Failures;
import io.millrace.server.http.HttpListener;
import io.millrace.server.http.HttpMethod;
import io.millrace.server.http.Routes;
import io.millrace.server.jobs.Dispatching;
import io.millrace.server.jobs.JobsApi;
import io.millrace.server.jobs.JobsSettings;
import io.millrace.server.metrics.GraphFigures;
import io.millrace.server.metrics.JobFigures;
import io.millrace.server.metrics.Metrics;
import io.millrace.server.metrics.StoreFigures;
import io.millrace.server.queues.DciApi;
import io.millrace.server.queues.QueuesSettings;
import io.millrace.server.security.Access;
import io.millrace.server.security.FilePermissions;
import io.millrace.server.security.Token;
import io.millrace.server.store.StoreApi;
import io.millrace.server.store.StoreSettings;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.work.StepLoop;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
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
          StoreSettings.SECTION,
          BlobSettings.SECTION,
          QueuesSettings.SECTION,
          JobsSettings.SECTION,
          GraphSettings.SECTION);

  private final EmbeddedTaskStore store;
  private final BlobStore blobs;
  private final Parts parts;
  private final HttpListener listener;
  private final PrometheusMeterRegistry registry;

  /** What acts by itself. */
  private record Parts(List<StepLoop> loops, Dispatching dispatching, GraphPart graph)
      implements AutoCloseable {
    @Override
    public void close() {
      graph.close();
      dispatching.close();
      loops.forEach(StepLoop::close);
    }
  }

  private MillraceServer(
      EmbeddedTaskStore store,
      BlobStore blobs,
      Parts parts,
      HttpListener listener,
      PrometheusMeterRegistry registry) {
    this.store = store;
    this.blobs = blobs;
    this.parts = parts;
    this.listener = listener;
    this.registry = registry;
  }

  /**
   * Opens the store that the configuration names and listens.
   *
   * @param configuration read from at least {@link #SECTIONS}
   * @throws ServerException when it cannot listen as configured
   * @throws io.millrace.store.StoreException when the store cannot be opened
   */
  public static MillraceServer start(Configuration configuration) {
    return start(configuration, TaskStore::open);
  }

  /** The same with a store that {@code opener} opens; it is closed where the start fails. */
  static MillraceServer start(
      Configuration configuration, Function<StoreOptions, EmbeddedTaskStore> opener) {
    ServerSettings settings = configuration.get(ServerSettings.SECTION);
    StoreOptions options = configuration.get(StoreSettings.SECTION).options();
    InetAddress address = resolve(settings.address());
    Token token = settings.tokenFile() == null ? null : Token.read(settings.tokenFile());
    Access.check(address, token);

    EmbeddedTaskStore store = opener.apply(options);
    return orClose(
        store,
        () -> {
          PrometheusMeterRegistry registry = Metrics.registry();
          Routes routes = new Routes(registry);
          TaskStore noted = new RequestStore(store);
          Failures failures = new Failures();
          BlobSettings blobSettings = configuration.get(BlobSettings.SECTION);
          BlobStore blobs = FileBlobStore.open(blobSettings.folder(options.folder()));
          FilePermissions.warnIfShared("data folder", options.folder());
          FilePermissions.warnIfShared("blob folder", blobSettings.folder(options.folder()));
          Health health = new Health(store, options.journaling());
          routes.add(HttpMethod.GET, "/health", health);
          mount(routes, failures, store, options);
          BlobApi.mount(routes, blobs, blobSettings.maxBytes());
          BlobApi.explain(failures);
          QueuesSettings queues = configuration.get(QueuesSettings.SECTION);
          Queues served =
              Queues.in(noted, Clock.systemUTC(), new SecureRandom(), options.limits().dataBytes());
          mount(routes, failures, served, noted, blobs, queues.lease());
          SecureRandom random = new SecureRandom();
          JobsSettings jobsSettings = configuration.get(JobsSettings.SECTION);
          Jobs jobs = jobs(noted, blobs, jobsSettings, random);
          WorkerManager workers =
              new WorkerManager(
                  jobsSettings.workers().options(),
                  store,
                  blobs,
                  Clock.systemUTC(),
                  System::nanoTime);
          workers.recall();
          PolledWorkers polls = new PolledWorkers(workers, jobs.registry());
          JobsApi.mount(
              routes,
              new JobsApi.Served(jobs, workers, polls, blobs, blobSettings.maxBytes()),
              jobsSettings);
          JobsApi.explain(failures);
          GraphPart graph =
              GraphPart.open(
                  configuration.get(GraphSettings.SECTION),
                  new GraphPart.Base(noted, blobs, options.folder(), served, jobs),
                  random);
          graph.mount(routes);
          GraphFigures graphFigures = GraphFigures.show(graph.registry(), registry);
          StoreFigures storeFigures = StoreFigures.show(store, registry);
          JobFigures jobFigures = JobFigures.show(jobs, workers, registry);
          mount(
              routes,
              registry,
              store,
              List.of(storeFigures::refresh, jobFigures::refresh, graphFigures::refresh));
          HttpListener listener =
              HttpListener.start(
                  address,
                  settings.port(),
                  settings.http(),
                  Access.to(
                      address,
                      token,
                      graph.pass().or(JobsApi.pass(jobsSettings)),
                      settings.origins()),
                  routes,
                  failures);
          listener.measure(registry);
          LOG.info("listening on {} port {}", address.getHostAddress(), listener.port());
          Sweeper sweeper = Sweeper.of(store, blobs, queues.sweep(), Clock.systemUTC(), random);
          JobSweeper jobSweeper = jobs.sweeper();
          InstantSource clock = InstantSource.system();
          List<StepLoop> loops =
              List.of(
                  StepLoop.start("disk-watch", clock, health::watch),
                  StepLoop.start("sweeper", clock, sweeper),
                  StepLoop.start("job-sweeper", clock, now -> now.plusMillis(jobSweeper.step())),
                  StepLoop.start("graph-sweeper", clock, graph.sweeper()));
          JobDispatcher dispatcher =
              new JobDispatcher(jobs.registry(), workers, jobsSettings.options().lease());
          graph.start(url(address, listener.port()), graphFigures);
          Parts parts = new Parts(loops, Dispatching.start(jobs, dispatcher, workers), graph);
          return new MillraceServer(store, blobs, parts, listener, registry);
        });
  }

  /**
   * What {@code start} gives; where it fails, in whatever way, {@code store} is closed, so that its
   * folder is free again.
   */
  static <T> T orClose(TaskStore store, Supplier<T> start) {
    try {
      return start.get();
    } catch (Throwable failure) {
      try {
        store.close();
      } catch (RuntimeException e) {
        // Why the start failed counts more.
        failure.addSuppressed(e);
      }
      throw failure;
    }
  }

  /** The figures. */
  private static void mount(
      Routes routes,
      PrometheusMeterRegistry registry,
      EmbeddedTaskStore store,
      List<Runnable> refreshing) {
    routes.add(
        HttpMethod.GET,
        "/metrics",
        _ -> {
          // Without room on the disk reads may wait; the last figures are shown then.
          if (!store.disk().stuck()) {
            refreshing.forEach(Runnable::run);
          }
          return Metrics.scrape(registry);
        });
  }

  /** The store itself. */
  private static void mount(
      Routes routes, Failures failures, EmbeddedTaskStore store, StoreOptions options) {
    StoreApi.mount(routes, store, options.limits().operations());
    StoreApi.explain(failures);
    ClusterApi.mount(routes, new RequestStore(store), Clock.systemUTC());
    ClusterApi.explain(failures);
  }

  /** The queues. Leases stood still while there was no server: they begin anew before any claim. */
  private static void mount(
      Routes routes,
      Failures failures,
      Queues queues,
      TaskStore store,
      BlobStore blobs,
      Duration lease) {
    queues.runs().reviveAll(lease);
    DciApi.mount(routes, queues, store, blobs);
    DciApi.explain(failures);
  }

  /**
   * The jobs. Whatever ran when the server stopped has nobody any more: it is offered again before
   * any worker can come.
   *
   * @throws ServerException when the configured types cannot be, or contradict those stored
   */
  private static Jobs jobs(
      TaskStore store, BlobStore blobs, JobsSettings settings, SecureRandom random) {
    try {
      JobTypes types = JobTypes.of(settings.types());
      Jobs jobs =
          Jobs.open(
              store,
              blobs,
              settings.replaceTypes() ? types.replacingStored() : types,
              settings.options(),
              new Jobs.Environment(Clock.systemUTC(), random));
      int returned = jobs.registry().returnAll();
      if (returned > 0) {
        LOG.info("{} jobs that were running are offered again", returned);
      }
      return jobs;
    } catch (InvalidJobException e) {
      throw new ServerException("jobs.types: " + e.getMessage(), e);
    }
  }

  private static InetAddress resolve(String address) {
    try {
      return InetAddress.getByName(address);
    } catch (UnknownHostException e) {
      throw new ServerException("server.address is no address of this machine: " + address, e);
    }
  }

  /** How programs on this machine reach it. */
  private static String url(InetAddress address, int port) {
    InetAddress reached = address.isAnyLocalAddress() ? InetAddress.getLoopbackAddress() : address;
    String host = reached.getHostAddress();
    return "http://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
  }

  /** The port it listens on. */
  public int port() {
    return listener.port();
  }

  /** The store that it serves, for parts that run in the same process; closed with the server. */
  public TaskStore store() {
    return store;
  }

  /**
   * Completes, with the cause, when the store has stopped by itself, as after a failed write; see
   * {@link EmbeddedTaskStore#stopped}. The server then only answers that it has stopped, and should
   * be closed and started anew.
   */
  public CompletableFuture<Throwable> stopped() {
    return store.stopped();
  }

  /** The blobs that it serves, for parts that run in the same process. */
  public BlobStore blobs() {
    return blobs;
  }

  /** Finishes what is in flight, then closes the store and its journal. Closing twice is safe. */
  @Override
  public void close() {
    listener.stop();
    parts.close();
    registry.close();
    store.close();
  }
}
