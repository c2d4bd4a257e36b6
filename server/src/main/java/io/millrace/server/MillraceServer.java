package io.millrace.server;

import io.millrace.blobs.BlobException;
import io.millrace.blobs.BlobStore;
import io.millrace.http.HttpLimits;
import io.millrace.http.HttpServer;
import io.millrace.http.Route;
import io.millrace.http.message.HttpException;
import io.millrace.server.access.AccessSettings;
import io.millrace.server.archive.ArchiveSettings;
import io.millrace.server.audit.AuditSettings;
import io.millrace.server.blobs.BlobSettings;
import io.millrace.server.config.Configuration;
import io.millrace.server.config.Configuration.Section;
import io.millrace.server.dashboard.DashboardSettings;
import io.millrace.server.graph.GraphSettings;
import io.millrace.server.jobs.JobsSettings;
import io.millrace.server.queues.CommandQueues;
import io.millrace.server.queues.QueuesSettings;
import io.millrace.server.security.Principals;
import io.millrace.server.security.ProxySettings;
import io.millrace.server.security.RelaySignatures;
import io.millrace.server.security.Token;
import io.millrace.server.store.StoreSettings;
import io.millrace.server.traces.TracesSettings;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.StandbyStore;
import io.millrace.store.TaskStore;
import io.millrace.store.journal.files.JournalCheck;
import io.millrace.wire.Placement;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.function.Supplier;
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

  /** What a server keeps in its folder, wherever its store is. */
  private static final List<String> KEPT_BESIDE = List.of("archive.db", "blobs", "graph", "nodes");

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
    /** Starts it for a store, or a shard of one, that the server leads and serves. */
    void start(MillraceServer server, Led led);

    /**
     * Stops it for a store or shard, before the parts of the server end, or after the lead was
     * lost. Does nothing if it was not started for that one.
     */
    void stop(int shard);
  }

  /**
   * What a server leads.
   *
   * @param shard its number; 0 for a store without shards
   * @param path what the paths of its systems begin with: empty for the first one
   * @param store closed with the server
   * @param blobs those of its systems
   */
  public record Led(int shard, String path, TaskStore store, BlobStore blobs) {}

  /**
   * How a server was started.
   *
   * @param shownToken the server's token as servers show it to each other; null for none
   * @param token the same to compare with
   * @param localKey of programs that this process starts
   * @param relays by which servers of the store believe each other
   * @param endpoint where it listens; null for nowhere
   * @param queues those that the command interface serves; null for those of the store
   * @param companion runs while it leads; null for none, and then a lead that is lost is the end
   */
  record Setup(
      Configuration configuration,
      @Nullable String shownToken,
      @Nullable Token token,
      String localKey,
      RelaySignatures relays,
      HttpServer.@Nullable Endpoint endpoint,
      @Nullable CommandQueues queues,
      @Nullable Companion companion) {
    static Setup of(
        Configuration configuration,
        HttpServer.@Nullable Endpoint endpoint,
        @Nullable CommandQueues queues,
        @Nullable Companion companion) {
      Path file = configuration.get(ServerSettings.SECTION).tokenFile();
      String shown = file == null ? null : Token.text(file);
      Token token = shown == null ? null : Token.of(shown);
      String localKey = Principals.newLocalKey(new SecureRandom());
      RelaySignatures relays = RelaySignatures.of(shown, localKey);
      return new Setup(configuration, shown, token, localKey, relays, endpoint, queues, companion);
    }

    /** What stands between clients and the server. */
    ProxySettings front() {
      ServerSettings settings = configuration.get(ServerSettings.SECTION);
      return new ProxySettings(
          settings.origins(),
          settings.proxies(),
          configuration.get(AccessSettings.SECTION).identity(),
          relays);
    }

    /** Whether every caller needs credentials where it listens. */
    boolean requiresCredentials() {
      return MillraceServer.requiresCredentials(configuration)
          || (endpoint != null && !endpoint.address().isLoopbackAddress());
    }
  }

  private final Setup setup;
  private final CompletableFuture<Void> leads = new CompletableFuture<>();
  private final CompletableFuture<Throwable> stopped = new CompletableFuture<>();

  /** Its share in a store that other servers share; null for other stores. */
  private volatile @Nullable SharedServing sharing;

  private volatile @Nullable HttpServer listener;
  private volatile @Nullable Term term;

  private MillraceServer(Setup setup) {
    this.setup = setup;
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
    MillraceServer server =
        new MillraceServer(Setup.of(configuration, endpoint(configuration), null, null));
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
    checkBlobs(configuration);
    MillraceServer server =
        new MillraceServer(Setup.of(configuration, endpoint, queues, companion));
    if (!configuration.get(StoreSettings.SECTION).isShared()) {
      server.serve(StoreSettings::open);
      return server;
    }
    server.share();
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
  private static void checkBlobs(Configuration configuration) {
    int shards = configuration.get(StoreSettings.SECTION).shards();
    try {
      var _ = configuration.get(BlobSettings.SECTION).checkPlace(shards);
    } catch (BlobException e) {
      throw new ServerException("blobs.url: " + e.getMessage(), e);
    }
  }

  private void serve(Function<StoreSettings, EmbeddedTaskStore> opener) {
    StoreSettings settings = setup.configuration().get(StoreSettings.SECTION);
    warnIfElsewhere(settings.options().folder());
    EmbeddedTaskStore store = opener.apply(settings);
    Term only =
        orClose(
            store,
            () -> {
              Term built = Term.of(new Term.Ground(setup, store, null, null, Placement.HOME));
              HttpServer.Endpoint endpoint = setup.endpoint();
              if (endpoint != null) {
                var _ = listen(at -> HttpServer.start(endpoint, at, built.site()));
              }
              begin(built);
              return built;
            });
    leads.complete(null);
    var _ = only.store().stopped().thenAccept(stopped::complete);
  }

  /** Says so if the folder was that of a server whose store is elsewhere. */
  private static void warnIfElsewhere(Path folder) {
    List<String> kept =
        KEPT_BESIDE.stream().filter(name -> Files.exists(folder.resolve(name))).toList();
    if (!kept.isEmpty() && !JournalCheck.isIn(folder)) {
      LOG.warn(
          "the folder {} has no store, but {} of a server: a new, empty store begins in it. If the"
              + " store of that server is in a database or a bucket, stop this server, and name the"
              + " address of the store with store.url",
          folder,
          String.join(", ", kept));
    }
  }

  private void share() {
    SharedServing shared = new SharedServing(this, setup);
    sharing = shared;
    var _ = shared.stopped().thenAccept(stopped::complete);
    var _ =
        shared
            .start()
            .whenComplete((_, failure) -> {
              if (failure == null) {
                leads.complete(null);
              } else {
                leads.completeExceptionally(failure);
              }
            });
  }

  /** Starts what runs on a store without shards, or the first shard, which is served already. */
  void begin(Term next) {
    start(next, Placement.HOME);
    term = next;
    accompany(next, Placement.HOME);
  }

  /** Starts what runs on another shard, which is served already. */
  void begin(Term next, int shard) {
    start(next, shard);
    accompany(next, shard);
  }

  private void start(Term next, int shard) {
    HttpServer open = listener;
    HttpServer.Endpoint endpoint = setup.endpoint();
    String url =
        endpoint == null || open == null
            ? ""
            : url(endpoint.address(), open.port()) + ShardSites.path(shard);
    next.start(shard == Placement.HOME ? open : null, url);
  }

  private void accompany(Term next, int shard) {
    Companion companion = setup.companion();
    if (companion != null) {
      companion.start(this, new Led(shard, ShardSites.path(shard), next.store(), next.blobs()));
    }
  }

  /** Notes that the lead of a store, or of its first shard, was lost. */
  void endTerm() {
    term = null;
  }

  /** Whether every caller needs credentials, also on this machine. */
  public static boolean requiresCredentials(Configuration configuration) {
    return configuration.get(ServerSettings.SECTION).requiresCredentials()
        || configuration.get(AccessSettings.SECTION).requiresCredentials();
  }

  /** Listens. */
  HttpServer listen(Function<HttpLimits, HttpServer> opener) {
    HttpServer.Endpoint where = Objects.requireNonNull(setup.endpoint());
    try {
      HttpServer opened = opener.apply(setup.configuration().get(ServerSettings.SECTION).http());
      listener = opened;
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
  static String url(InetAddress address, int port) {
    InetAddress reached = address.isAnyLocalAddress() ? InetAddress.getLoopbackAddress() : address;
    String host = reached.getHostAddress();
    return "http://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
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
    SharedServing shared = sharing;
    return shared == null ? new CompletableFuture<>() : shared.follows().copy();
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

  /** The principals of this server, and the key of this process for the first administrator. */
  public Principals principals() {
    return Objects.requireNonNull(leading().principals());
  }

  /** The key of this process for the programs that it starts on this machine. */
  public String localKey() {
    return setup.localKey();
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
    SharedServing shared = sharing;
    if (shared != null) {
      shared.stop();
    }
    Term last = term;
    Companion companion = setup.companion();
    if (companion != null && shared != null) {
      shared.stopCompanions(companion);
    } else if (companion != null && last != null) {
      companion.stop(Placement.HOME);
    }
    HttpServer open = listener;
    if (open != null) {
      open.drain();
    }
    try {
      if (shared != null) {
        shared.close();
      } else if (last != null) {
        last.close();
      }
    } finally {
      // Last, so that clients with a request on its way learn that it was refused.
      if (open != null) {
        open.stop();
      }
    }
  }
}
