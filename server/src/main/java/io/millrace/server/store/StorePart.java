package io.millrace.server.store;

import io.micrometer.core.instrument.MeterRegistry;
import io.millrace.http.ApiRoutes;
import io.millrace.http.Caller.Role;
import io.millrace.http.ErrorResponses;
import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import io.millrace.server.Part;
import io.millrace.server.metrics.StoreFigures;
import io.millrace.server.shards.ShardedStore;
import io.millrace.server.shards.ShardedStore.ElsewhereException;
import io.millrace.server.shards.ShardedStore.NoSuchShardException;
import io.millrace.store.Command;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import io.millrace.store.StoreStatus.DiskState;
import io.millrace.store.TaskStore;
import io.millrace.store.environment.DurationText;
import io.millrace.wire.Placement;
import io.millrace.wire.Placement.ShardsDifferException;
import io.millrace.wire.Requests;
import io.millrace.wire.Responses;
import io.millrace.wire.WireException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The task store under {@code /store}. */
public final class StorePart implements Part {
  private static final Logger LOG = LoggerFactory.getLogger(StorePart.class);

  /** The query parameter with the number of a shard. */
  private static final String SHARD = "shard";

  private static final Duration WATCH_EVERY = Duration.ofSeconds(10);

  /**
   * The errors of the verbs: a list, and the kind of refusal if the status tells it. Answers to a
   * transaction or claim that the store refused have the same form.
   */
  private static final ErrorForm LIST =
      ErrorForm.named(
          "StoreErrors",
          problem ->
              new Response.Whole(
                  problem.status(),
                  Response.JSON,
                  problem.headers(),
                  Responses.writeErrors(
                      problem.message(),
                      switch (problem.status()) {
                        case 400 -> Reason.Kind.MALFORMED;
                        case 413 -> Reason.Kind.TOO_LARGE;
                        default -> null;
                      })));

  private final EmbeddedTaskStore store;
  private final @Nullable ShardedStore shards;
  private final Consumer<Command> check;
  private final int maxOperations;

  /** Whether the log says that the disk has little room; for the thread that watches. */
  private boolean told;

  /**
   * Of a store, which stays the caller's to close.
   *
   * @param shards all shards, if the store is the first one; null if it has none
   * @param check throws an exception for commands that it does not take
   * @param maxOperations the most parts of a transaction, and the most tasks that one read names
   */
  public StorePart(
      EmbeddedTaskStore store,
      @Nullable ShardedStore shards,
      Consumer<Command> check,
      int maxOperations) {
    this.store = store;
    this.shards = shards;
    this.check = check;
    this.maxOperations = maxOperations;
  }

  /**
   * The routes that only read a store.
   *
   * @param maxOperations the most tasks that one read names
   */
  public static List<Route> reads(TaskStore store, int maxOperations) {
    return reads(new Reads(store, _ -> store, maxOperations));
  }

  private static List<Route> reads(Reads reads) {
    ApiRoutes api = ApiRoutes.below("/store").limitable().stale();
    api.get("/groups", reads::groupNames)
        .get("/group", reads::groupNames)
        .get("/summary", reads::summary);
    api.query(SHARD).get("/position", reads::position);
    api.query("data", "limit", "owned", "delayed", "after").get("/group/{group}", reads::group);
    api.query("data")
        .get("/task/{id}", reads::task)
        .get("/tasks/{ids}", reads::tasks)
        .get("/document/{collection}/{key}", reads::document);
    api.query("data")
        .body(Route.Body.JSON, Set.of("ids"))
        .role(Role.VIEWER)
        .post("/tasks", reads::postedTasks);
    api.query("data", "prefix", "after", "limit", "order")
        .get("/documents/{collection}", reads::documents);
    return api.routes();
  }

  @Override
  public List<Route> routes() {
    return shards == null
        ? routes(
            new Reads(store, _ -> store, maxOperations),
            new Verbs(store, check, maxOperations),
            new Changes((_, _) -> store),
            _ -> store)
        : routes(shards, maxOperations);
  }

  /**
   * The routes of a store with shards, for any server that follows or leads them.
   *
   * @param maxOperations the most parts of a transaction, and the most tasks that one read names
   */
  public static List<Route> routes(ShardedStore shards, int maxOperations) {
    return routes(
        new Reads(shards, request -> shards.shard(shard(request)), maxOperations),
        new Verbs(shards, maxOperations),
        new Changes((request, interest) ->
            request.query().text(SHARD).isPresent()
                ? shards.shard(shard(request))
                : shards.of(interest)),
        request -> shards.led((int) shard(request)));
  }

  /** The shard that a request names. */
  private static long shard(Request request) {
    if (request.query().text(SHARD).isEmpty()) {
      throw HttpProblem.malformed(
          "this store has shards, and the request is for one: add the parameter " + SHARD);
    }
    return request.query().integer(SHARD, 0, 0, Placement.MOST - 1L);
  }

  private static List<Route> routes(
      Reads reads, Verbs verbs, Changes changes, Function<Request, EmbeddedTaskStore> backedUp) {
    ApiRoutes all = ApiRoutes.below("/store");
    ApiRoutes api = all.limitable();
    api.query("data", "after", "group", "collection", SHARD).get("/changes", changes::stream);
    all.role(Role.ADMIN)
        .query(SHARD)
        .get(
            "/backup",
            request -> {
              EmbeddedTaskStore store = backedUp.apply(request);
              return Response.streamed(Response.BYTES, store::backup);
            });
    api.query("data")
        .body(Route.Body.JSON, Requests.OF_TRANSACTION)
        .errors(LIST)
        .action("store.update")
        .post("/update", verbs::beginUpdate, verbs::update)
        .body(Route.Body.JSON, Requests.OF_CLAIM)
        .action("store.claim")
        .post("/claim", verbs::beginClaim, verbs::claim);
    List<Route> routes = new ArrayList<>(reads(reads));
    routes.addAll(api.routes());
    return routes;
  }

  @Override
  public void addErrorResponses(ErrorResponses responses) {
    addErrors(responses, shards != null);
  }

  /**
   * Defines the responses to exceptions of a store.
   *
   * @param ofShards whether another server may lead what this one has closed
   */
  public static void addErrors(ErrorResponses responses, boolean ofShards) {
    if (ofShards) {
      responses.add(
          StoreClosedException.class,
          e ->
              HttpProblem.unavailable(String.valueOf(e.getMessage()), 1)
                  .withHeader(Responses.ROLE_HEADER, "standby"));
    }
    responses
        .add(ElsewhereException.class, StorePart::direct)
        .add(ShardsDifferException.class, 400)
        .add(NoSuchShardException.class, 404)
        .add(WireException.TooManyParts.class, 413)
        .add(WireException.class, 400)
        .addUnavailable(StoreClosedException.class)
        .add(OutcomeUnknownException.class, 504)
        .addUnavailable(StoreException.class);
  }

  /** Directs the client to the leader of a shard. */
  private static HttpProblem direct(ElsewhereException elsewhere, Request request) {
    HttpProblem problem =
        elsewhere.leader() == null
            ? HttpProblem.unavailable(String.valueOf(elsewhere.getMessage()), 1)
            : new HttpProblem(307, String.valueOf(elsewhere.getMessage()))
                .withHeader("Location", elsewhere.leader() + request.target())
                .withHeader(Responses.SHARD_HEADER, elsewhere.place())
                .withHeader("Cache-Control", "no-store");
    return problem.withHeader(Responses.ROLE_HEADER, "standby");
  }

  @Override
  public Runnable measure(MeterRegistry registry) {
    return StoreFigures.show(store, registry)::refresh;
  }

  @Override
  public List<Activity> activities() {
    return List.of(new Activity("disk-watch", this::watch));
  }

  @Override
  public List<String> warnings() {
    DiskState disk = store.disk();
    List<String> warnings = new ArrayList<>();
    if (disk.shortage() != null) {
      warnings.add("growth is refused as full: " + disk.shortage());
    } else if (isLow(disk)) {
      warnings.add(lowDisk(disk));
    }
    if (disk.snapshotFailure() != null) {
      warnings.add("the last snapshot could not be written: " + disk.snapshotFailure());
    }
    long aheadMillis = store.timeAheadMillis();
    if (Math.abs(aheadMillis) > EmbeddedTaskStore.TIME_MARGIN.toMillis()) {
      warnings.add(
          "store time is %s %s the wall clock: absolute times come that much too %s"
              .formatted(
                  DurationText.about(Duration.ofMillis(Math.abs(aheadMillis))),
                  aheadMillis > 0 ? "ahead of" : "behind",
                  aheadMillis > 0 ? "early" : "late"));
    }
    return warnings;
  }

  private static boolean isLow(DiskState disk) {
    return disk.freeBytes() < disk.reserveBytes();
  }

  private static String lowDisk(DiskState disk) {
    return "the disk of the store has %d bytes free, less than store.disk-reserve-bytes (%d): growth will be refused once the segments at hand are full"
        .formatted(disk.freeBytes(), disk.reserveBytes());
  }

  /**
   * Warns once in the log when the disk has less room than is to be left free, while the journal
   * itself still has what it needs. For one thread.
   */
  private Instant watch(Instant now) {
    DiskState disk = store.disk();
    boolean low = isLow(disk);
    if (low != told) {
      told = low;
      if (low && disk.shortage() == null) {
        LOG.warn(lowDisk(disk));
      } else if (!low) {
        LOG.info("the disk of the store has {} bytes free again", disk.freeBytes());
      }
    }
    return now.plus(WATCH_EVERY);
  }
}
