package io.millrace.client;

import io.millrace.client.Exchanges.Effect;
import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.DocumentQuery;
import io.millrace.store.GroupQuery;
import io.millrace.store.GroupSummary;
import io.millrace.store.Interest;
import io.millrace.store.Outcome;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.Position;
import io.millrace.store.Read;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import io.millrace.store.Subscription;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.wire.Answers;
import io.millrace.wire.Requests;
import io.millrace.wire.WireException;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A task store on another machine, over HTTP. Safe for use by any number of threads; each request
 * has a connection of its own, which is used again.
 *
 * <p>The principal of commands stays here: the server knows it from the credentials. Besides what
 * {@link TaskStore} says, every method throws {@link UnreachableException} where the server cannot
 * be reached and nothing changed, and {@link RejectedException} where it does not take the request.
 * A command that may have been done without its answer coming back is sent again where it has a
 * request id, and fails with {@link OutcomeUnknownException} where it has none.
 */
public final class HttpTaskStore implements TaskStore {
  private final Server server;
  private final Connections connections;
  private final Exchanges exchanges;
  private final ClientOptions options;

  private HttpTaskStore(ClientOptions options) {
    this.options = options;
    server = new Server(options);
    connections = new Connections(server::connect);
    exchanges = new Exchanges(server, connections, options.timeouts().retry().toNanos());
  }

  /** The store at this address, with the defaults. Connects when first used. */
  public static HttpTaskStore open(URI server) {
    return open(ClientOptions.at(server));
  }

  /** The store that the options name. Connects when first used. */
  public static HttpTaskStore open(ClientOptions options) {
    return new HttpTaskStore(options);
  }

  @Override
  public CompletableFuture<Outcome> submit(Command command) {
    Submitted answer = new Submitted();
    Thread.ofVirtual()
        .name("millrace-client")
        .start(() -> {
          try {
            answer.complete(send(command, answer.call));
          } catch (RuntimeException | Error e) {
            answer.completeExceptionally(e);
          }
        });
    return answer;
  }

  /** The answer to come; cancelling it closes the connection, which withdraws a waiting claim. */
  private static final class Submitted extends CompletableFuture<Outcome> {
    final Connections.Call call = new Connections.Call();

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
      boolean cancelled = super.cancel(mayInterruptIfRunning);
      if (cancelled) {
        call.giveUp();
      }
      return cancelled;
    }
  }

  @Override
  public Outcome commit(Transaction transaction) {
    return send(transaction, new Connections.Call());
  }

  @Override
  public Outcome claim(Claim claim) {
    return send(claim, new Connections.Call());
  }

  private Outcome send(Command command, Connections.Call call) {
    Request request =
        switch (command) {
          case Transaction transaction ->
              Request.post("/store/update", said(() -> Requests.write(transaction)), patience(0));
          case Claim claim ->
              Request.post(
                  "/store/claim", said(() -> Requests.write(claim)), patience(claim.waitMillis()));
        };
    Effect effect = command.requestId() == null ? Effect.AGAIN : Effect.ONCE;
    return outcome(exchanges.send(request, effect, call));
  }

  /** What a request holds; what JSON cannot say, no store would take. */
  private static byte[] said(Supplier<byte[]> body) {
    try {
      return body.get();
    } catch (WireException e) {
      throw new RejectedException(400, String.valueOf(e.getMessage()));
    }
  }

  private int patience(long moreMillis) {
    long millis = options.timeouts().answer().toMillis() + Math.max(0, moreMillis);
    return Math.clamp(millis, 1, Integer.MAX_VALUE);
  }

  private Outcome outcome(Answer answer) {
    try {
      return Answers.readOutcome(answer.body());
    } catch (WireException e) {
      if (answer.status() == 200) {
        throw new OutcomeUnknownException("cannot read the answer of " + server, e);
      }
      throw failed(answer);
    }
  }

  private StoreException failed(Answer answer) {
    String error = answer.error();
    return switch (answer.status()) {
      case 503 -> new StoreClosedException(server + " does not serve: " + error);
      case 401 -> new RejectedException(401, server + " wants other credentials: " + error);
      case 403 -> new RejectedException(403, server + " does not allow this: " + error);
      case 404, 405 ->
          new RejectedException(answer.status(), "no task store at " + server + ": " + error);
      case 413 -> new RejectedException(413, "too large for " + server + ": " + error);
      default ->
          new RejectedException(
              answer.status(), server + " answers with status " + answer.status() + ": " + error);
    };
  }

  @Override
  public Read<List<Optional<Task>>> tasks(List<TaskRef> refs) {
    refs.forEach(TaskRef::required);
    return read("/store/tasks", said(() -> Requests.write(refs)), Answers::readFound);
  }

  @Override
  public Read<List<Task>> group(GroupQuery query) {
    return read(
        "/store/group/"
            + Paths.encode(query.group())
            + "?limit="
            + query.limit()
            + "&owned="
            + query.owned(),
        null,
        Answers::readTasks);
  }

  @Override
  public Read<List<GroupSummary>> groups() {
    return read("/store/summary", null, Answers::readSummaries);
  }

  @Override
  public Read<Optional<Document>> document(DocumentKey key) {
    String path =
        "/store/document/" + Paths.encode(key.collection()) + "/" + Paths.encode(key.key());
    Answer answer = ask(path, null);
    if (answer.status() == 404 && answer.position() != null) {
      return read(answer, _ -> Optional.empty());
    }
    return read(answer, body -> Optional.of(Answers.readDocument(body)));
  }

  @Override
  public Read<List<Document>> documents(DocumentQuery query) {
    return read(
        "/store/documents/"
            + Paths.encode(query.collection())
            + "?prefix="
            + Paths.encode(query.prefix())
            + "&after="
            + Paths.encode(query.after())
            + "&limit="
            + query.limit(),
        null,
        Answers::readDocuments);
  }

  private <T> Read<T> read(String path, byte @Nullable [] body, Function<byte[], T> form) {
    Answer answer = ask(path, body);
    if (answer.status() != 200) {
      throw failed(answer);
    }
    return read(answer, form);
  }

  private Answer ask(String path, byte @Nullable [] body) {
    Request request =
        body == null ? Request.get(path, patience(0)) : Request.post(path, body, patience(0));
    return exchanges.send(request, Effect.READ, new Connections.Call());
  }

  private <T> Read<T> read(Answer answer, Function<byte[], T> form) {
    if (answer.status() != 200 && answer.position() == null) {
      throw failed(answer);
    }
    String position = answer.position();
    String time = answer.time();
    if (position == null || time == null) {
      throw new RejectedException(answer.status(), "no task store at " + server);
    }
    try {
      return new Read<>(Position.parse(position), Long.parseLong(time), form.apply(answer.body()));
    } catch (WireException | IllegalArgumentException e) {
      throw new UnreachableException("cannot read the answer of " + server, e);
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>When the connection breaks, it goes on over another where it was, so that each commit still
   * comes once and in order; it tries for as long as it is open.
   */
  @Override
  public Subscription subscribe(Interest interest) {
    if (connections.closed()) {
      throw new StoreClosedException("the client of " + server + " is closed");
    }
    return HttpSubscription.begin(server, options, interest);
  }

  /** Cuts all connections; commands under way fail with an unknown outcome. */
  @Override
  public void close() {
    connections.close();
  }
}
