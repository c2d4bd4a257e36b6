package io.millrace.server;

import io.millrace.http.AccessCheck;
import io.millrace.http.HttpServer;
import io.millrace.server.MillraceServer.Companion;
import io.millrace.server.MillraceServer.Setup;
import io.millrace.server.audit.ShardAudits;
import io.millrace.server.shards.ShardedStore;
import io.millrace.server.shards.Spread;
import io.millrace.server.store.StoreSettings;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.StandbyStore;
import io.millrace.store.StoreException;
import io.millrace.wire.Placement;
import io.millrace.work.StepLoop;
import java.net.http.HttpClient;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * A server's share in a store that other servers share: it directs clients to the leader, and leads
 * the store, or shards of it, whenever nobody else does. Thread-safe.
 */
final class SharedServing {
  private static final Logger LOG = LoggerFactory.getLogger(SharedServing.class);

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

  private final MillraceServer server;
  private final Setup setup;
  private final CompletableFuture<Void> follows = new CompletableFuture<>();
  private final CompletableFuture<Throwable> stopped = new CompletableFuture<>();

  /** The leads by shard; one for a store without shards. */
  private volatile List<SharedLead> shared = List.of();

  /** What is done with them, by shard. */
  private volatile List<Lead> leads = List.of();

  private volatile @Nullable HttpServer listener;
  private volatile @Nullable StandbySite standbySite;
  private volatile @Nullable ShardedStore shards;

  /** Sends requests to servers that share the shards; null for a store without shards. */
  private volatile @Nullable HttpClient toServers;

  /** Of a store with shards, the audit log of those that this server leads besides the first. */
  private final ShardAudits audits = new ShardAudits();

  private volatile @Nullable ShardSites sites;

  /** Who is let in at what runs on other shards than the first one; null if it does not listen. */
  private volatile @Nullable AccessCheck followed;

  private volatile @Nullable Spread spread;
  private volatile @Nullable StepLoop spreading;

  /** The share of a server, which has not begun. */
  SharedServing(MillraceServer server, Setup setup) {
    this.server = server;
    this.setup = setup;
  }

  /** Completes when it follows another server and can take over at once. */
  CompletableFuture<Void> follows() {
    return follows;
  }

  /** Completes, with the cause, when it cannot go on. */
  CompletableFuture<Throwable> stopped() {
    return stopped;
  }

  /**
   * Listens as a standby, and leads whenever nobody else does.
   *
   * @return completes when it leads for the first time; fails if it cannot
   */
  CompletableFuture<Void> start() {
    HttpServer.Endpoint endpoint = setup.endpoint();
    StoreSettings settings = setup.configuration().get(StoreSettings.SECTION);
    Placement placement = new Placement(settings.shared().size());
    List<Lead> all =
        IntStream.range(0, placement.shards())
            .mapToObj(shard -> new Lead(placement, shard))
            .toList();
    leads = all;
    List<SharedLead> leadsOfShards =
        all.stream()
            .map(lead ->
                new SharedLead(
                    lead.isHome() ? "lead" : "lead-" + lead.number,
                    this::advertised,
                    address -> settings.standby(lead.number, address),
                    lead,
                    this::patience))
            .toList();
    ShardedStore divided = placement.shards() > 1 ? new ShardedStore(leadsOfShards) : null;
    if (divided != null) {
      HttpClient client = setup.configuration().get(ServerSettings.SECTION).clientOfServers();
      toServers = client;
      shards = divided;
      spread = new Spread(client, leadsOfShards, this::advertised, setup.shownToken());
    }
    if (endpoint != null) {
      listen(endpoint, divided);
    }
    shared = leadsOfShards;
    for (SharedLead lead : leadsOfShards) {
      var _ = lead.stopped().thenAccept(stopped::complete);
      lead.start();
    }
    if (spread != null) {
      spreading = StepLoop.start("spread", InstantSource.system(), spread::step);
    }
    CompletableFuture<Void> began = leadsOfShards.getFirst().began();
    Thread.ofPlatform().daemon().name("warm-up").start(() -> warmUp(began));
    return began;
  }

  private void listen(HttpServer.Endpoint endpoint, @Nullable ShardedStore divided) {
    AccessCheck access =
        divided == null
            ? FollowedAccess.ofAnyone(setup, endpoint)
            : FollowedAccess.of(setup, endpoint, divided);
    followed = access;
    StandbySite standby =
        new StandbySite(setup, endpoint, divided, access, audits, this::advertised);
    HttpClient client = toServers;
    if (divided == null || client == null) {
      listener = server.listen(limits -> HttpServer.start(endpoint, limits, standby.site()));
    } else {
      ShardSites ofShards =
          new ShardSites(setup, endpoint, client, divided, access, this::advertised);
      sites = ofShards;
      listener =
          server.listen(
              limits -> HttpServer.start(endpoint, limits, ofShards.all(standby.site()), ofShards));
    }
    standby.measure(listener);
    standbySite = standby;
  }

  private Duration patience() {
    Spread current = spread;
    return current == null ? Duration.ZERO : current.patience();
  }

  /** Where clients reach this server; null if it does not listen. */
  private @Nullable String advertised() {
    HttpServer open = listener;
    return open == null
        ? null
        : setup.configuration().get(ServerSettings.SECTION).advertised(open.port());
  }

  /** What this server does with a shard, or the only one: it serves all systems on it. */
  private final class Lead implements SharedLead.Service {
    private final Placement placement;
    private final int number;
    private volatile @Nullable Term running;

    Lead(Placement placement, int number) {
      this.placement = placement;
      this.number = number;
    }

    private boolean isHome() {
      return number == Placement.HOME;
    }

    @Override
    public void follows(StandbyStore standby) {
      if (!isHome()) {
        return;
      }
      var _ = standby.follows().thenRun(() -> follows.complete(null));
      if (standbySite != null) {
        standbySite.follows(standby);
      }
    }

    @Override
    public void check(EmbeddedTaskStore store) {
      Division.check(store, placement, number);
    }

    @Override
    public void begin(EmbeddedTaskStore store) {
      Term made = Term.of(new Term.Ground(setup, store, shards, followed, number));
      serve(number, made.site(), PROMOTION_GRACE);
      running = made;
      if (isHome()) {
        server.begin(made);
      } else {
        audits.begin(number, made.audit());
        server.begin(made, number);
        LOG.info("this server leads shard {}", number);
      }
    }

    @Override
    public boolean end(EmbeddedTaskStore store, Throwable cause) {
      Companion companion = setup.companion();
      if (isHome() && companion == null) {
        return false;
      }
      // The leads of other shards move whenever a server joins or ends.
      LOG.atLevel(isHome() ? Level.WARN : Level.INFO)
          .log(
              "this server does not lead {} any more, and becomes a standby: {}",
              shards == null ? "the store" : "shard " + number,
              cause.getMessage());
      CompletableFuture<Void> down = new CompletableFuture<>();
      var _ =
          down.orTimeout(LONGEST_STEP_DOWN.toSeconds(), TimeUnit.SECONDS)
              .whenComplete((_, late) -> {
                if (late != null) {
                  stopped.complete(cause);
                }
              });
      audits.end(number);
      if (isHome()) {
        server.endTerm();
      }
      ShardSites of = sites;
      StandbySite standby = standbySite;
      if (isHome() && standby != null) {
        serve(number, standby.site(), STEP_DOWN_GRACE);
      } else if (of != null) {
        serve(number, of.elsewhere(number), STEP_DOWN_GRACE);
      }
      if (companion != null) {
        companion.stop(number);
      }
      close();
      down.complete(null);
      return true;
    }

    /** Closes what runs on the store, if it does, and the store. */
    void close() {
      Term ended = running;
      running = null;
      try {
        if (ended != null) {
          ended.close();
        }
      } catch (StoreException e) {
        LOG.debug("the store has stopped before", e);
      }
    }
  }

  private void serve(int shard, HttpServer.Site site, Duration grace) {
    HttpServer open = listener;
    if (open == null) {
      return;
    }
    if (sites == null) {
      open.serve(site, grace);
    } else {
      open.serve(ShardSites.name(shard), site, SHARDS_GRACE);
    }
  }

  /** Has a standby prepare for the lead, unless it soon leads. */
  private static void warmUp(CompletableFuture<Void> leads) {
    try {
      leads.get(WARM_UP_AFTER.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException _) {
      WarmUp.run();
    } catch (ExecutionException e) {
      LOG.debug("the server did not start", e);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits for no lead any more; what the server leads stays open. */
  void stop() {
    if (spreading != null) {
      spreading.close();
    }
    shared.forEach(SharedLead::stop);
  }

  /** Stops what accompanies shards, after {@link #stop}. */
  void stopCompanions(Companion companion) {
    IntStream.range(0, leads.size()).forEach(companion::stop);
  }

  /** Closes what the server leads, after {@link #stop}. */
  void close() {
    // At the same time, so that each shard soon has another leader.
    List<Thread> closings =
        IntStream.range(0, leads.size())
            .mapToObj(shard ->
                Thread.startVirtualThread(() -> {
                  leads.get(shard).close();
                  shared.get(shard).close();
                }))
            .toList();
    closings.forEach(SharedServing::await);
    HttpClient client = toServers;
    if (client != null) {
      client.shutdownNow();
    }
    if (standbySite != null) {
      standbySite.close();
    }
  }

  private static void await(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }
}
