package io.millrace.server.queues;

import io.millrace.queues.InvalidRequestException;
import io.millrace.queues.StoreFullException;
import io.millrace.queues.TaskStateException;
import io.millrace.server.http.Handler;
import io.millrace.server.http.HttpMethod;
import io.millrace.server.http.Reply;
import io.millrace.server.http.Request;
import io.millrace.server.http.Routes;
import io.millrace.wire.JsonMistake;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Adds routes below {@code /dci} whose input errors are answered in one form. */
final class Mount {
  private static final String ROOT = "/dci";

  private final Routes routes;

  Mount(Routes routes) {
    this.routes = routes;
  }

  /** A request with the names that its path has. */
  record Asked(Request request) {
    String node() {
      return request.parameter("node");
    }

    String queue() {
      return request.parameter("queue");
    }

    String id() {
      return request.parameter("id");
    }

    String collection() {
      return request.parameter("collection");
    }
  }

  /** Answers a request with parameters. */
  interface Action {
    Reply answer(Asked asked, Input input) throws IOException, InterruptedException;
  }

  /** The body of an answer that says what is wrong with a request. */
  interface ErrorForm {
    JsonNode body(Refusal refusal);

    /** The status of the answer. */
    default int status(Refusal refusal) {
      return 400;
    }
  }

  /** A route that takes parameters. */
  void add(HttpMethod method, String path, Action action) {
    add(method, path, Refusal::body, action);
  }

  /** The same with errors of another form. */
  void add(HttpMethod method, String path, ErrorForm errors, Action action) {
    routes.add(
        method,
        ROOT + path,
        request -> {
          Input input = null;
          try {
            input = Input.of(request);
            return action.answer(new Asked(request), input);
          } catch (Refusal e) {
            return answer(e, errors);
          } catch (StoreFullException e) {
            // Not the client's fault: answered as every store that cannot serve now.
            throw e;
          } catch (InvalidRequestException e) {
            return answer(refusal(e, input), errors);
          } catch (TaskStateException e) {
            return answer(Refusal.of(String.valueOf(e.getMessage())), errors);
          } catch (JacksonException e) {
            return answer(notKept(e), errors);
          }
        });
  }

  /** A route that reads its body itself. */
  void addRaw(HttpMethod method, String path, Handler handler) {
    routes.add(
        method,
        ROOT + path,
        request -> {
          try {
            return handler.handle(request);
          } catch (Refusal e) {
            return answer(e, Refusal::body);
          } catch (StoreFullException e) {
            throw e;
          } catch (InvalidRequestException e) {
            return answer(refusal(e, null), Refusal::body);
          } catch (JacksonException e) {
            return answer(notKept(e), Refusal::body);
          }
        });
  }

  private static Reply answer(Refusal refusal, ErrorForm errors) {
    JsonNode body = errors.body(refusal);
    return refusal.isFull() ? Form.full(body) : Form.reply(errors.status(refusal), body);
  }

  private static Refusal notKept(JacksonException e) {
    return Refusal.of("this JSON cannot be kept: " + JsonMistake.words(e));
  }

  private static Refusal refusal(InvalidRequestException e, @Nullable Input input) {
    String message = String.valueOf(e.getMessage());
    if (e.field().isEmpty() || input == null) {
      return Refusal.of(message);
    }
    ObjectNode given = input.all();
    return given.has(e.field())
        ? Refusal.of(message, e.field(), given.get(e.field()))
        : Refusal.of(message);
  }
}
