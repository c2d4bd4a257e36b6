package io.millrace.server;

import io.millrace.http.HttpServer;
import io.millrace.server.MillraceServer.Companion;
import io.millrace.server.MillraceServer.Setup;
import io.millrace.server.audit.AuditSettings;
import io.millrace.server.audit.ShardAudits;
import io.millrace.server.config.Configuration;
import io.millrace.server.shards.ShardedStore;
import io.millrace.server.shards.Spread;
import io.millrace.server.store.StoreSettings;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.StandbyStore;
import io.millrace.store.StoreException;
import io.millrace.wire.Placement;
import io.millrace.work.StepLoop;
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

  private volatile @Nullable HttpServer listener;
  private volatile @Nullable StandbySite standbySite;
  private volatile @Nullable ShardedStore shards;

  /** Of a store with shards, the audit log of those that this server leads besides the first. */
  private volatile @Nullable ShardAudits audits;

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
    Configuration configuration = setup.configuration();
    HttpServer.Endpoint endpoint = setup.endpoint();
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
      spread = new Spread(leadsOfShards, this::advertised, setup.shownToken());
    }
    if (endpoint != null) {
      StandbySite site =
          new StandbySite(configuration, setup.token(), endpoint, setup.queues() == null, audits);
      HttpServer opened = server.listen(endpoint, site.site());
      listener = opened;
      site.listensAt(opened, String.valueOf(advertised()));
      standbySite = site;
    }
    shared = leadsOfShards;
    for (SharedLead lead : leadsOfShards) {
      var _ = lead.stopped().thenAccept(stopped::complete);
      lead.start();
    }
    if (spread != null) {
      spreading = StepLoop.start("spread", InstantSource.system(), spread::step);
    }
    CompletableFuture<Void> leads = leadsOfShards.getFirst().began();
    Thread.ofPlatform().daemon().name("warm-up").start(() -> warmUp(leads));
    return leads;
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
      Term made = server.termOf(store, shards);
      HttpServer open = listener;
      if (open != null) {
        open.serve(made.site(), shards == null ? PROMOTION_GRACE : SHARDS_GRACE);
      }
      server.begin(made);
    }

    @Override
    public boolean end(EmbeddedTaskStore store, Throwable cause) {
      Companion companion = setup.companion();
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
  private static void warmUp(CompletableFuture<Void> leads) {
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
    Term ended = server.endTerm();
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

  /** Waits for no lead any more; what the server leads stays open. */
  void stop() {
    if (spreading != null) {
      spreading.close();
    }
    shared.forEach(SharedLead::stop);
  }

  /**
   * Closes what the server leads, after {@link #stop}.
   *
   * @param last what runs on the store, or its first shard; null if another server leads it
   */
  void close(@Nullable Term last) {
    if (audits != null) {
      audits.close();
    }
    // At the same time, so that each shard soon has another leader.
    List<Thread> closings =
        shared.stream().skip(1).map(lead -> Thread.startVirtualThread(lead::close)).toList();
    if (last != null) {
      last.close();
    }
    closings.forEach(SharedServing::await);
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
