package io.millrace.server;

import io.millrace.http.Caller;
import io.millrace.http.ErrorResponses;
import io.millrace.http.HttpServer;
import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.http.Route.Handler;
import io.millrace.http.message.Headers;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import io.millrace.server.MillraceServer.Setup;
import io.millrace.server.blobs.BlobSettings;
import io.millrace.server.blobs.StandbyBlobs;
import io.millrace.server.config.Configuration;
import io.millrace.server.graph.GraphPart;
import io.millrace.server.jobs.JobsPart;
import io.millrace.server.jobs.JobsSettings;
import io.millrace.server.queues.QueuesPart;
import io.millrace.server.schedules.SchedulesPart;
import io.millrace.server.store.StorePart;
import io.millrace.server.store.StoreSettings;
import io.millrace.store.Command;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.StandbyStore;
import io.millrace.store.StandbyStore.LeaderNeededException;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore;
import java.io.IOException;
import java.io.OutputStream;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The reads that a standby answers itself, from what it has applied of the journal, for callers
 * that accept an answer of some age. The caller is checked as at the leader, against principals of
 * no greater age. What this server cannot answer so is directed to the leader: a request without
 * {@code stale}, one whose bound it does not keep, one of somebody whom it does not know, and one
 * with the session of a browser, since only the leader knows when sessions were used. Thread-safe.
 */
final class StandbyReads {
  private static final ScopedValue<StandbyStore.StaleReads> CURRENT = ScopedValue.newInstance();

  private final Setup setup;
  private final boolean ownStore;
  private final Handler direct;
  private final SecureRandom random = new SecureRandom();
  private final TaskStore store = new Reading();
  private final StandbyBlobs blobs;
  private volatile @Nullable StandbyStore standby;
  private final FollowedPrincipals principals;

  /** The store for the handlers: what the request that a thread serves may read. */
  private static final class Reading implements TaskStore {
    @Override
    public Read<List<Optional<Task>>> tasks(List<TaskRef> refs) {
      return CURRENT.get().tasks(refs);
    }

    @Override
    public Read<List<Task>> group(GroupQuery query) {
      return CURRENT.get().group(query);
    }

    @Override
    public Read<List<GroupSummary>> groups() {
      return CURRENT.get().groups();
    }

    @Override
    public Read<Optional<Document>> document(DocumentKey key) {
      return CURRENT.get().document(key);
    }

    @Override
    public Read<List<Document>> documents(DocumentQuery query) {
      return CURRENT.get().documents(query);
    }

    @Override
    public CompletableFuture<Outcome> submit(Command command) {
      return CURRENT.get().submit(command);
    }

    @Override
    public Subscription subscribe(Interest interest) {
      return CURRENT.get().subscribe(interest);
    }

    @Override
    public void close() {
      // It has nothing of its own.
    }
  }

  /**
   * The reads of a standby.
   *
   * @param ownStore whether the store has no shards, so that its routes are among these
   * @param direct directs a request to the leader
   */
  StandbyReads(Setup setup, HttpServer.Endpoint endpoint, boolean ownStore, Handler direct) {
    this.setup = setup;
    this.ownStore = ownStore;
    this.direct = direct;
    Configuration configuration = setup.configuration();
    this.principals = new FollowedPrincipals(setup, endpoint, store, random);
    this.blobs =
        new StandbyBlobs(
            configuration.get(BlobSettings.SECTION),
            configuration.get(StoreSettings.SECTION).options().folder());
  }

  /** Sets the store that follows the leader. */
  void follows(StandbyStore next) {
    standby = next;
  }

  /**
   * Defines the responses to exceptions of these routes.
   *
   * @param ofShards whether the server also serves shards
   */
  static void addErrors(ErrorResponses responses, boolean ofShards) {
    StorePart.addErrors(responses, ofShards);
    QueuesPart.addErrors(responses);
    JobsPart.addErrors(responses);
    GraphPart.addErrors(responses);
    SchedulesPart.addErrors(responses);
  }

  /** The routes, which check the caller themselves. */
  List<Route> routes() {
    Configuration configuration = setup.configuration();
    int maxOperations = configuration.get(StoreSettings.SECTION).options().limits().operations();
    List<Route> routes = new ArrayList<>();
    if (ownStore) {
      routes.addAll(StorePart.reads(store, maxOperations));
    }
    if (setup.queues() == null) {
      routes.addAll(QueuesPart.reads(store, setup.token(), random));
    }
    JobsSettings jobs = configuration.get(JobsSettings.SECTION);
    routes.addAll(JobsPart.reads(store, blobs, jobs, random));
    routes.addAll(GraphPart.reads(store, blobs, random));
    routes.addAll(SchedulesPart.reads(store, random));
    return routes.stream()
        .map(route -> route.withHandler(request -> answer(route, request)).forAnyone())
        .toList();
  }

  /** Ends its connections. */
  void close() {
    blobs.close();
  }

  private Response answer(Route route, Request request) throws IOException, InterruptedException {
    StaleReads wanted = StaleReads.of(request);
    StandbyStore following = standby;
    if (wanted == null || following == null || hasSession(request)) {
      return direct.handle(request);
    }
    StandbyStore.StaleReads reads = following.reads(wanted.bound(), wanted.after());
    try {
      Response response =
          ScopedValue.where(CURRENT, reads).call(() -> read(route, request, wanted.bound()));
      return response == null
          ? direct.handle(request)
          : StaleReads.with(streaming(response, reads), reads.age(), reads::position);
    } catch (LeaderNeededException _) {
      return direct.handle(request);
    } catch (IOException | InterruptedException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** The response; its body, if that is written later, reads the same state. */
  private static Response streaming(Response response, StandbyStore.StaleReads reads) {
    if (!(response
        instanceof
        Response.Streamed(int status, String type, var headers, long lengthBytes, var body))) {
      return response;
    }
    Response.Body later =
        new Response.Body() {
          @Override
          public void writeTo(OutputStream target) throws IOException, InterruptedException {
            try {
              Void _ =
                  ScopedValue.where(CURRENT, reads)
                      .call(() -> {
                        body.writeTo(target);
                        return null;
                      });
            } catch (IOException | InterruptedException | RuntimeException e) {
              throw e;
            } catch (Exception e) {
              throw new IllegalStateException(e);
            }
          }

          @Override
          public void close() {
            body.close();
          }
        };
    return new Response.Streamed(status, type, headers, lengthBytes, later);
  }

  private static boolean hasSession(Request request) {
    return request.header(Headers.AUTHORIZATION).isEmpty() && request.header("Cookie").isPresent();
  }

  /** The answer; null if the caller is not known here, or has a reach that is not kept here. */
  private @Nullable Response read(Route route, Request request, Duration bound)
      throws IOException, InterruptedException {
    try {
      Caller caller =
          principals.access(bound, () -> CURRENT.get().age()).check(request.attempt().at(route));
      if (caller == null) {
        return null;
      }
      request.identify(caller);
    } catch (HttpProblem problem) {
      if (problem.status() != 401 && !problem.isOfWrongCredentials()) {
        throw problem;
      }
      // The key or password may be a new one.
      return null;
    }
    if (!route.limitable() && !request.caller().reach().coversEverything()) {
      // The leader's route may keep to it.
      return null;
    }
    route.check(request.caller());
    return route.handler().handle(request);
  }
}
