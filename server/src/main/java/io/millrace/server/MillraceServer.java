package io.millrace.server;

import io.millrace.blobs.BlobException;
import io.millrace.blobs.BlobStore;
import io.millrace.http.HttpServer;
import io.millrace.http.Route;
import io.millrace.http.message.HttpException;
import io.millrace.server.access.AccessSettings;
import io.millrace.server.archive.ArchiveSettings;
import io.millrace.server.audit.AuditSettings;
import io.millrace.server.audit.ShardAudits;
import io.millrace.server.blobs.BlobSettings;
import io.millrace.server.config.Configuration;
import io.millrace.server.config.Configuration.Section;
import io.millrace.server.dashboard.DashboardSettings;
import io.millrace.server.graph.GraphSettings;
import io.millrace.server.jobs.JobsSettings;
import io.millrace.server.queues.CommandQueues;
import io.millrace.server.queues.QueuesSettings;
import io.millrace.server.security.Principals;
import io.millrace.server.security.Token;
import io.millrace.server.shards.ShardedStore;
import io.millrace.server.shards.Spread;
import io.millrace.server.store.StoreSettings;
import io.millrace.server.traces.TracesSettings;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.StandbyStore;
import io.millrace.store.StoreException;
import io.millrace.store.TaskStore;
import io.millrace.wire.Placement;
import io.millrace.work.StepLoop;
import java.net.InetAddress;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One server: the embedded store and every API, on one port. If other servers share its store, only
 * the one that leads it serves them; a standby directs clients to it, and takes over when it ends.
 * Safe for use by threads.
 */
public final class MillraceServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(MillraceServer.class);

  /** How long requests may take to end when the lead is lost; their store answers nothing more. */
  private static final Duration STEP_DOWN_GRACE = Duration.ofSeconds(1);

  /** After this long, a server that has lost the lead but has not ended its parts is given up. */
  private static final Duration LONGEST_STEP_DOWN = Duration.ofSeconds(30);

  /** How long requests to a standby may take to end when it leads. */
  private static final Duration PROMOTION_GRACE = Duration.ofSeconds(1);

  /** The same two if the requests are for shards that it leads or leads on. */
  private static final Duration SHARDS_GRACE = Duration.ofSeconds(5);

  /** After this long without the lead, a standby prepares for it. */
  private static final Duration WARM_UP_AFTER = Duration.ofSeconds(1);

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
          DashboardSettings.SECTION,
          TracesSettings.SECTION,
          LogSettings.SECTION);

  /** What runs in the same process while the server leads, such as an execution node. */
  public interface Companion {
    /** Starts it; the server serves. */
    void start(MillraceServer server);

    /** Stops it, before the parts of the server end, or after the lead was lost. */
    void stop();
  }

  private final Configuration configuration;

  /** The token as servers show it to each other. */
  private final @Nullable String shownToken;

  private final @Nullable Token token;
  private final HttpServer.@Nullable Endpoint endpoint;
  private final @Nullable CommandQueues queues;
  private final @Nullable Companion companion;
  private final CompletableFuture<Void> leads = new CompletableFuture<>();
  private final CompletableFuture<Void> follows = new CompletableFuture<>();
  private final CompletableFuture<Throwable> stopped = new CompletableFuture<>();

  /** The leads of a store that other servers share, by shard; empty for other stores. */
  private volatile List<SharedLead> shared = List.of();

  private volatile @Nullable HttpServer listener;
  private volatile @Nullable StandbySite standbySite;
  private volatile @Nullable ShardedStore shards;

  /** Of a store with shards, the audit log of those that this server leads besides the first. */
  private volatile @Nullable ShardAudits audits;

  private volatile @Nullable Spread spread;
  private volatile @Nullable StepLoop spreading;
  private volatile @Nullable Term term;

  private MillraceServer(
      Configuration configuration,
      HttpServer.@Nullable Endpoint endpoint,
      @Nullable CommandQueues queues,
      @Nullable Companion companion) {
    ServerSettings settings = configuration.get(ServerSettings.SECTION);
    this.configuration = configuration;
    this.endpoint = endpoint;
    this.queues = queues;
    this.companion = companion;
    this.shownToken = settings.tokenFile() == null ? null : Token.text(settings.tokenFile());
    this.token = shownToken == null ? null : Token.of(shownToken);
  }

  /**
   * Opens the store of the configuration and listens. If other servers share it, waits until this
   * one leads it, and serves until it {@linkplain #stopped stops}.
   *
   * @param configuration read from at least {@link #SECTIONS}
   * @throws ServerException if it cannot listen as configured, or the bucket of the blobs cannot be
   *     used
   * @throws io.millrace.store.StoreException if the store cannot be opened
   */
  public static MillraceServer start(Configuration configuration) {
    return start(configuration, endpoint(configuration), null, null);
  }

  /** The same for this process alone: nothing listens. */
  public static MillraceServer startWithoutHttp(Configuration configuration) {
    return start(configuration, null, null, null);
  }

  /**
   * The same for a process that serves until it is told to stop. If other servers share the store,
   * it listens as a standby at once, leads it when nobody else does, and becomes a standby again
   * when another one has taken over or its database gives no definite answer.
   *
   * @param queues what the command interface serves, which the server does not close; null for the
   *     queues of the store
   * @param companion runs in the same process while it leads
   */
  public static MillraceServer start(
      Configuration configuration, @Nullable CommandQueues queues, Companion companion) {
    return start(configuration, endpoint(configuration), queues, companion);
  }

  /** The same with a store that {@code opener} opens; it is closed if the start fails. */
  static MillraceServer start(
      Configuration configuration, Function<StoreSettings, EmbeddedTaskStore> opener) {
    MillraceServer server = new MillraceServer(configuration, endpoint(configuration), null, null);
    server.serve(opener);
    return server;
  }

  private static HttpServer.Endpoint endpoint(Configuration configuration) {
    return configuration.get(ServerSettings.SECTION).endpoint();
  }

  private static MillraceServer start(
      Configuration configuration,
      HttpServer.@Nullable Endpoint endpoint,
      @Nullable CommandQueues queues,
      @Nullable Companion companion) {
    checkBlobs(configuration.get(BlobSettings.SECTION));
    MillraceServer server = new MillraceServer(configuration, endpoint, queues, companion);
    if (!configuration.get(StoreSettings.SECTION).isShared()) {
      server.serve(StoreSettings::open);
      return server;
    }
    server.serveShared();
    if (companion == null) {
      try {
        server.leads.join();
      } catch (CompletionException e) {
        server.close();
        throw e.getCause() instanceof RuntimeException cause ? cause : e;
      }
    }
    return server;
  }

  /** A standby would notice only when it takes over. */
  private static void checkBlobs(BlobSettings blobs) {
    try {
      var _ = blobs.checkPlace();
    } catch (BlobException e) {
      throw new ServerException("blobs.url: " + e.getMessage(), e);
    }
  }

  // ---- a store of its own

  private void serve(Function<StoreSettings, EmbeddedTaskStore> opener) {
    EmbeddedTaskStore store = opener.apply(configuration.get(StoreSettings.SECTION));
    Term only =
        orClose(
            store,
            () -> {
              Term built = termOf(store);
              if (endpoint != null) {
                listener = listen(endpoint, built.site());
              }
              begin(built);
              return built;
            });
    leads.complete(null);
    var _ = only.store().stopped().thenAccept(stopped::complete);
  }

  // ---- a store that other servers share

  private void serveShared() {
    StoreSettings settings = configuration.get(StoreSettings.SECTION);
    Placement placement = new Placement(settings.shared().size());
    List<SharedLead> leadsOfShards =
        IntStream.range(0, placement.shards())
            .mapToObj(shard ->
                new SharedLead(
                    shard == Placement.HOME ? "lead" : "lead-" + shard,
                    this::advertised,
                    address -> settings.standby(shard, address),
                    shard == Placement.HOME ? new Home(placement) : new Shard(placement, shard),
                    this::patience))
            .toList();
    if (placement.shards() > 1) {
      ShardedStore all = new ShardedStore(leadsOfShards);
      shards = all;
      audits =
          new ShardAudits(
              all,
              configuration.get(AuditSettings.SECTION),
              settings.options().limits().operations());
      spread = new Spread(leadsOfShards, this::advertised, shownToken);
    }
    if (endpoint != null) {
      StandbySite site = new StandbySite(configuration, token, endpoint, queues == null, audits);
      HttpServer opened = listen(endpoint, site.site());
      listener = opened;
      site.listensAt(opened, String.valueOf(advertised()));
      standbySite = site;
    }
    shared = leadsOfShards;
    var _ =
        leadsOfShards
            .getFirst()
            .began()
            .whenComplete((_, failure) -> {
              if (failure == null) {
                leads.complete(null);
              } else {
                leads.completeExceptionally(failure);
              }
            });
    for (SharedLead lead : leadsOfShards) {
      var _ = lead.stopped().thenAccept(stopped::complete);
      lead.start();
    }
    if (spread != null) {
      spreading = StepLoop.start("spread", InstantSource.system(), spread::step);
    }
    Thread.ofPlatform().daemon().name("warm-up").start(this::warmUp);
  }

  private Duration patience() {
    Spread current = spread;
    return current == null ? Duration.ZERO : current.patience();
  }

  /** Where clients reach this server; null if it does not listen. */
  private @Nullable String advertised() {
    HttpServer open = listener;
    return open == null ? null : configuration.get(ServerSettings.SECTION).advertised(open.port());
  }

  /** What this server does with the first shard, or the only one: it serves everything on it. */
  private final class Home implements SharedLead.Service {
    private final Placement placement;

    Home(Placement placement) {
      this.placement = placement;
    }

    @Override
    public void follows(StandbyStore standby) {
      var _ = standby.follows().thenRun(() -> follows.complete(null));
      if (standbySite != null) {
        standbySite.follows(standby);
      }
    }

    @Override
    public void check(EmbeddedTaskStore store) {
      Division.check(store, placement, Placement.HOME);
    }

    @Override
    public void begin(EmbeddedTaskStore store) {
      Term made = termOf(store);
      HttpServer open = listener;
      if (open != null) {
        open.serve(made.site(), shards == null ? PROMOTION_GRACE : SHARDS_GRACE);
      }
      MillraceServer.this.begin(made);
    }

    @Override
    public boolean end(EmbeddedTaskStore store, Throwable cause) {
      if (companion == null) {
        return false;
      }
      stepDown(cause, companion);
      return true;
    }
  }

  /** What this server does with another shard: only its part of the audit log runs on it. */
  private final class Shard implements SharedLead.Service {
    private final Placement placement;
    private final int number;

    Shard(Placement placement, int number) {
      this.placement = placement;
      this.number = number;
    }

    @Override
    public void check(EmbeddedTaskStore store) {
      Division.check(store, placement, number);
    }

    @Override
    public void begin(EmbeddedTaskStore store) {
      if (audits != null) {
        audits.begin(number, store);
      }
      LOG.info("this server leads shard {}", number);
    }

    @Override
    public boolean end(EmbeddedTaskStore store, Throwable cause) {
      LOG.info("this server does not lead shard {} any more: {}", number, cause.getMessage());
      if (audits != null) {
        audits.end(number);
      }
      SharedLead.close(store);
      return true;
    }
  }

  /** Has a standby prepare for the lead, unless it soon leads. */
  private void warmUp() {
    try {
      leads.get(WARM_UP_AFTER.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException _) {
      Term.warmUp();
    } catch (ExecutionException e) {
      LOG.debug("the server did not start", e);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  /** Ends what ran on a store that has stopped, and becomes a standby. */
  private void stepDown(Throwable cause, Companion running) {
    LOG.warn(
        "this server does not lead the store any more, and becomes a standby: {}",
        cause.getMessage());
    CompletableFuture<Void> down = new CompletableFuture<>();
    var _ =
        down.orTimeout(LONGEST_STEP_DOWN.toSeconds(), TimeUnit.SECONDS)
            .whenComplete((_, late) -> {
              if (late != null) {
                stopped.complete(cause);
              }
            });
    HttpServer open = listener;
    Term ended = term;
    term = null;
    if (open != null && standbySite != null) {
      open.serve(standbySite.site(), shards == null ? STEP_DOWN_GRACE : SHARDS_GRACE);
    }
    running.stop();
    try {
      if (ended != null) {
        ended.close();
      }
    } catch (StoreException e) {
      LOG.debug("the store has stopped before", e);
    }
    down.complete(null);
  }

  // ---- both

  private Term termOf(EmbeddedTaskStore store) {
    return Term.of(
        configuration, token, queues, store, shards, endpoint == null ? null : endpoint.address());
  }

  private void begin(Term next) {
    HttpServer open = listener;
    next.start(open, endpoint == null || open == null ? "" : url(endpoint.address(), open.port()));
    term = next;
    if (companion != null) {
      companion.start(this);
    }
  }

  /** Whether every caller needs credentials, also on this machine. */
  public static boolean requiresCredentials(Configuration configuration) {
    return configuration.get(ServerSettings.SECTION).requiresCredentials()
        || configuration.get(AccessSettings.SECTION).requiresCredentials();
  }

  private HttpServer listen(HttpServer.Endpoint where, HttpServer.Site site) {
    try {
      HttpServer opened =
          HttpServer.start(where, configuration.get(ServerSettings.SECTION).http(), site);
      LOG.info(
          "listening on {} port {}{}",
          where.address().getHostAddress(),
          opened.port(),
          where.certificate() == null ? "" : " with TLS");
      return opened;
    } catch (HttpException e) {
      throw new ServerException(String.valueOf(e.getMessage()), e.getCause());
    }
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

  private static void await(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  private Term leading() {
    Term current = term;
    if (current == null) {
      throw new IllegalStateException("the server does not lead its store");
    }
    return current;
  }

  /**
   * The port on which it listens.
   *
   * @throws IllegalStateException if it does not listen
   */
  public int port() {
    HttpServer open = listener;
    if (open == null) {
      throw new IllegalStateException("the server was started without HTTP");
    }
    return open.port();
  }

  /**
   * Completes when it leads its store for the first time, after its companion was started; at once
   * if no other servers share the store. Fails if it cannot, for example because the store is
   * damaged.
   */
  public CompletableFuture<Void> leads() {
    return leads.copy();
  }

  /**
   * Completes when it follows another server that leads the store, and can take over from it at
   * once: see {@link StandbyStore#follows}. Never completes if it leads first, or has a store of
   * its own.
   */
  public CompletableFuture<Void> follows() {
    return follows.copy();
  }

  /**
   * A part of the server, for programs in the same process.
   *
   * @param type its class, for example {@code JobsPart.class}
   * @throws IllegalStateException if the server does not lead its store, also in the next methods
   */
  public <P extends Part> P part(Class<P> type) {
    return leading().parts().stream()
        .filter(type::isInstance)
        .map(type::cast)
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("there is no part " + type.getName()));
  }

  /** All of its routes, in the order of the parts. */
  public List<Route> routes() {
    return leading().site().routes().all();
  }

  /** The store that it serves, for parts that run in the same process; closed with the server. */
  public TaskStore store() {
    return leading().store();
  }

  /** The principals of this server, and the keys of this process. */
  public Principals principals() {
    return leading().principals();
  }

  /** The blobs that it serves, for parts that run in the same process. */
  public BlobStore blobs() {
    return leading().blobs();
  }

  /**
   * Completes, with the cause, when the server cannot go on by itself: its store has stopped, for
   * example after a failed write (see {@link EmbeddedTaskStore#stopped}), and it cannot become a
   * standby. It then only answers that it has stopped, and should be closed and started again.
   */
  public CompletableFuture<Throwable> stopped() {
    return stopped.copy();
  }

  /**
   * Finishes current requests, then closes the store and its journal; a standby of a shared store
   * takes over then. Closing twice is safe.
   */
  @Override
  public void close() {
    if (spreading != null) {
      spreading.close();
    }
    shared.forEach(SharedLead::stop);
    Term last = term;
    if (companion != null && last != null) {
      companion.stop();
    }
    if (listener != null) {
      listener.stop();
    }
    if (audits != null) {
      audits.close();
    }
    // At the same time, so that each shard soon has another leader.
    List<Thread> closings =
        shared.stream().skip(1).map(lead -> Thread.startVirtualThread(lead::close)).toList();
    if (last != null) {
      last.close();
    }
    closings.forEach(MillraceServer::await);
    if (standbySite != null) {
      standbySite.close();
    }
  }
}
