package io.millrace.client;

import io.millrace.client.ConnectionPool.Call;
import io.millrace.client.HttpTransport.Answer;
import io.millrace.client.HttpTransport.Effect;
import io.millrace.client.HttpTransport.Request;
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
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.TaskStore.Read;
import io.millrace.store.Transaction;
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

/**
 * A remote task store over HTTP. Thread-safe; each concurrent request uses a pooled connection of
 * its own.
 *
 * <p>The principal of commands is not sent: the server takes it from the credentials. In addition
 * to the exceptions of {@link TaskStore}, every method throws {@link UnreachableException} if the
 * server cannot be reached and nothing changed, and {@link RejectedException} if the server rejects
 * the request. If the answer to a command is lost, the command is sent again if it has a request
 * id; otherwise it fails with {@link OutcomeUnknownException}.
 */
public final class HttpTaskStore implements TaskStore {
  private final HttpTransport server;

  private HttpTaskStore(ClientOptions options) {
    server = new HttpTransport(options, Map.of());
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

  /** The future answer; cancelling it closes the connection, which cancels a waiting claim. */
  private static final class Submitted extends CompletableFuture<Outcome> {
    final Call call = new Call();

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
    Effect effect = command.requestId() == null ? Effect.AGAIN : Effect.ONCE;
    return outcome(server.send(request, effect, call));
  }

  /** A request with JSON. What cannot be written as JSON is refused here, as the server would. */
  private Request post(String path, Supplier<byte[]> body, long waitMillis) {
    try {
      int answerMillis = server.answerMillis(Duration.ofMillis(waitMillis));
      return Request.of("POST", path, body.get(), answerMillis);
    } catch (WireException e) {
      throw new RejectedException(400, String.valueOf(e.getMessage()));
    }
  }

  private Outcome outcome(Answer answer) {
    try {
      return Responses.readOutcome(answer.body());
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
      case 404, 405 ->
          new RejectedException(answer.status(), "no task store at " + server + ": " + error);
      default -> server.rejected(answer.status(), error);
    };
  }

  @Override
  public Read<List<Optional<Task>>> tasks(List<TaskRef> refs) {
    refs.forEach(TaskRef::required);
    return read(ask(post("/store/tasks", () -> Requests.write(refs), 0)), Responses::readFound);
  }

  @Override
  public Read<List<Task>> group(GroupQuery query) {
    return read(
        "/store/group/"
            + HttpTransport.encode(query.group())
            + "?limit="
            + query.limit()
            + switch (query.selection()) {
              case WAITING -> "";
              case DELAYED -> "&delayed=true";
              case ALL -> "&owned=true";
            },
        Responses::readTasks);
  }

  @Override
  public Read<List<GroupSummary>> groups() {
    return read("/store/summary", Responses::readSummaries);
  }

  @Override
  public Read<Optional<Document>> document(DocumentKey key) {
    String path =
        "/store/document/"
            + HttpTransport.encode(key.collection())
            + "/"
            + HttpTransport.encode(key.key());
    Answer answer = ask(get(path));
    boolean missing = answer.status() == 404 && answer.header(Responses.POSITION_HEADER) != null;
    return missing
        ? inAnswer(answer, _ -> Optional.empty())
        : read(answer, body -> Optional.of(Responses.readDocument(body)));
  }

  @Override
  public Read<List<Document>> documents(DocumentQuery query) {
    return read(
        "/store/documents/"
            + HttpTransport.encode(query.collection())
            + "?prefix="
            + HttpTransport.encode(query.prefix())
            + "&after="
            + HttpTransport.encode(query.after())
            + "&limit="
            + query.limit(),
        Responses::readDocuments);
  }

  private <T> Read<T> read(String path, Function<byte[], T> form) {
    return read(ask(get(path)), form);
  }

  private Request get(String path) {
    return Request.of("GET", path, server.answerMillis(Duration.ZERO));
  }

  private Answer ask(Request request) {
    return server.send(request, Effect.READ, new Call());
  }

  private <T> Read<T> read(Answer answer, Function<byte[], T> form) {
    if (answer.status() != 200) {
      throw failed(answer);
    }
    return inAnswer(answer, form);
  }

  private <T> Read<T> inAnswer(Answer answer, Function<byte[], T> form) {
    String position = answer.header(Responses.POSITION_HEADER);
    String time = answer.header(Responses.TIME_HEADER);
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
   * <p>If the connection breaks, the subscription reconnects for as long as it is open; each commit
   * still arrives once and in order.
   */
  @Override
  public Subscription subscribe(Interest interest) {
    if (server.isClosed()) {
      throw server.closedException();
    }
    return HttpSubscription.begin(server, interest);
  }

  /** Cuts all connections; running commands fail with an unknown outcome. */
  @Override
  public void close() {
    server.close();
  }
}
