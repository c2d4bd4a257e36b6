package io.millrace.client;

import io.millrace.client.ConnectionPool.Call;
import io.millrace.client.HttpExchange.Request;
import io.millrace.client.HttpExchange.Response;
import io.millrace.client.HttpTransport.Idempotency;
import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.Position;
import io.millrace.store.StoreException;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.TaskStore.DocumentQuery.Order;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.TaskStore.GroupQuery.Place;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.TaskStore.Read;
import io.millrace.store.Transaction;
import io.millrace.wire.Placement;
import io.millrace.wire.Requests;
import io.millrace.wire.Responses;
import io.millrace.wire.WireException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;

/**
 * A task store on a server, over HTTP. Thread-safe: each concurrent request uses a pooled
 * connection of its own.
 *
 * <p>The principal of commands is not sent: the server takes it from the credentials. In addition
 * to the exceptions of {@link TaskStore}, every method throws {@link UnreachableException} if the
 * server cannot be reached and nothing changed, and {@link RejectedException} if the server rejects
 * the request. If the response to a command is lost, the command is sent again if it has a request
 * id; otherwise it fails with {@link OutcomeUnknownException}.
 *
 * <p>With {@link ClientOptions#stale}, reads may lack what others have written within that time,
 * and nothing that this object has read or written before.
 */
public final class HttpTaskStore implements TaskStore {
  private final HttpTransport server;
  private final StaleReads reads;

  private HttpTaskStore(ClientOptions options) {
    server = new HttpTransport(options, Map.of());
    reads = new StaleReads(server, options.stale());
  }

  /** The store at this address, with default options. Connects on first use. */
  public static HttpTaskStore open(URI server) {
    return open(ClientOptions.at(server));
  }

  /** The store that the options name. Connects on first use. */
  public static HttpTaskStore open(ClientOptions options) {
    return new HttpTaskStore(options);
  }

  @Override
  public CompletableFuture<Outcome> submit(Command command) {
    PendingOutcome response = new PendingOutcome();
    Thread.ofVirtual()
        .name("millrace-client")
        .start(() -> {
          try {
            response.complete(send(command, response.call));
          } catch (RuntimeException | Error e) {
            response.completeExceptionally(e);
          }
        });
    return response;
  }

  /** The future outcome. Cancelling it cuts the connection, which cancels a waiting claim. */
  private static final class PendingOutcome extends CompletableFuture<Outcome> {
    final Call call = new Call();

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
      boolean cancelled = super.cancel(mayInterruptIfRunning);
      if (cancelled) {
        call.cancel();
      }
      return cancelled;
    }
  }

  @Override
  public Outcome commit(Transaction transaction) {
    return send(transaction, new Call());
  }

  @Override
  public Outcome claim(Claim claim) {
    return send(claim, new Call());
  }

  private Outcome send(Command command, Call call) {
    Request request =
        switch (command) {
          case Transaction transaction ->
              post("/store/update", () -> Requests.write(transaction), 0);
          case Claim claim ->
              post(
                  "/store/claim",
                  () -> Requests.write(claim),
                  Math.clamp(claim.waitMillis(), 0, Integer.MAX_VALUE));
        };
    Idempotency idempotency =
        command.requestId() == null ? Idempotency.NOT_IDEMPOTENT : Idempotency.IDEMPOTENT;
    return outcome(server.send(request.in(placement -> placement.of(command)), idempotency, call));
  }

  /**
   * A request with a JSON body. What cannot be written as JSON is rejected here, as the server
   * would do.
   */
  private Request post(String path, Supplier<byte[]> body, long waitMillis) {
    try {
      int responseTimeoutMillis = server.responseTimeoutMillis(Duration.ofMillis(waitMillis));
      return Request.of("POST", path, body.get(), responseTimeoutMillis);
    } catch (WireException e) {
      throw new RejectedException(400, String.valueOf(e.getMessage()));
    }
  }

  private Outcome outcome(Response response) {
    try {
      Outcome outcome = Responses.readOutcome(response.body());
      reads.saw(outcome.position());
      return outcome;
    } catch (WireException e) {
      if (response.status() == 200) {
        throw new OutcomeUnknownException("cannot read the answer of " + server, e);
      }
      throw failed(response);
    }
  }

  private StoreException failed(Response response) {
    String error = response.error();
    return switch (response.status()) {
      case 404, 405 ->
          new RejectedException(response.status(), "no task store at " + server + ": " + error);
      default -> server.rejected(response.status(), error);
    };
  }

  @Override
  public Read<List<Optional<Task>>> tasks(List<TaskRef> refs) {
    refs.forEach(TaskRef::required);
    Request request = post("/store/tasks", () -> Requests.write(refs), 0);
    return read(
        reads.send(
            refs.isEmpty() ? request : request.in(placement -> placement.ofTask(refs.getFirst()))),
        Responses::readFound);
  }

  @Override
  public Read<List<Task>> group(GroupQuery query) {
    Place after = query.after();
    return read(
        placement -> placement.ofName(query.group()),
        "/store/group/"
            + HttpTransport.encode(query.group())
            + "?limit="
            + query.limit()
            + switch (query.selection()) {
              case WAITING -> "";
              case DELAYED -> "&delayed=true";
              case ALL -> "&owned=true";
            }
            // Not known to older servers.
            + (after == null ? "" : "&after=" + Requests.write(after)),
        Responses::readTasks);
  }

  @Override
  public Read<List<GroupSummary>> groups() {
    return read(_ -> Placement.HOME, "/store/summary", Responses::readSummaries);
  }

  @Override
  public Read<Optional<Document>> document(DocumentKey key) {
    String path =
        "/store/document/"
            + HttpTransport.encode(key.collection())
            + "/"
            + HttpTransport.encode(key.key());
    Response response = reads.send(get(path).in(placement -> placement.ofDocument(key)));
    boolean missing =
        response.status() == 404 && response.header(Responses.POSITION_HEADER) != null;
    return missing
        ? inAnswer(response, _ -> Optional.empty())
        : read(response, body -> Optional.of(Responses.readDocument(body)));
  }

  @Override
  public Read<List<Document>> documents(DocumentQuery query) {
    return read(
        placement -> placement.ofCollection(query.collection()).orElse(Placement.HOME),
        "/store/documents/"
            + HttpTransport.encode(query.collection())
            + "?prefix="
            + HttpTransport.encode(query.prefix())
            + "&after="
            + HttpTransport.encode(query.after())
            + "&limit="
            + query.limit()
            // Not known to older servers.
            + (query.order() == Order.ASCENDING ? "" : "&order=descending"),
        Responses::readDocuments);
  }

  private <T> Read<T> read(ToIntFunction<Placement> shard, String path, Function<byte[], T> form) {
    return read(reads.send(get(path).in(shard)), form);
  }

  private Request get(String path) {
    return Request.of("GET", path, server.responseTimeoutMillis(Duration.ZERO));
  }

  private <T> Read<T> read(Response response, Function<byte[], T> form) {
    if (response.status() != 200) {
      throw failed(response);
    }
    return inAnswer(response, form);
  }

  private <T> Read<T> inAnswer(Response response, Function<byte[], T> form) {
    String position = response.header(Responses.POSITION_HEADER);
    String time = response.header(Responses.TIME_HEADER);
    if (position == null || time == null) {
      throw new RejectedException(response.status(), "no task store at " + server);
    }
    try {
      return new Read<>(
          Position.parse(position), Long.parseLong(time), form.apply(response.body()));
    } catch (WireException | IllegalArgumentException e) {
      throw new UnreachableException("cannot read the answer of " + server, e);
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>If the connection breaks, the subscription reconnects until it is closed. Each commit still
   * arrives exactly once and in order.
   */
  @Override
  public Subscription subscribe(Interest interest) {
    if (server.isClosed()) {
      throw server.closedException();
    }
    return HttpSubscription.begin(server, interest);
  }

  /** Closes all connections. Running commands fail with an unknown outcome. */
  @Override
  public void close() {
    server.close();
  }
}
