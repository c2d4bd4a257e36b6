package io.millrace.server.queues;

import io.millrace.http.ApiRoutes;
import io.millrace.http.Caller.Role;
import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.http.Route.Handler;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.Response;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.QueuesException.StoreFullException;
import io.millrace.queues.QueuesException.TaskStateException;
import io.millrace.wire.JsonErrors;
import io.millrace.work.policy.PolicyException;
import java.io.IOException;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/** Collects the routes below {@code /dci}, most of which take their input as {@link Input}. */
record DciRoutes(ApiRoutes api) {
  /** Handles a request, given its input. */
  interface Action {
    Response respond(Request request, Input input) throws IOException, InterruptedException;
  }

  /** The same for routes with this form of errors. */
  DciRoutes errors(ErrorForm errors) {
    return new DciRoutes(api.errors(errors));
  }

  /** The same for routes that keep to the reach of the caller. */
  DciRoutes limitable() {
    return new DciRoutes(api.limitable());
  }

  /** The same for routes that a server may answer that only follows the store. */
  DciRoutes stale() {
    return new DciRoutes(api.stale());
  }

  /** The same for routes that need this role. */
  DciRoutes role(Role needed) {
    return new DciRoutes(api.role(needed));
  }

  /** The same for routes that do this, see {@link ApiRoutes#action}. */
  DciRoutes action(String kindAndVerb) {
    return new DciRoutes(api.action(kindAndVerb));
  }

  /** The same for routes that read these parameters of the query. */
  DciRoutes query(String... names) {
    return new DciRoutes(api.query(names));
  }

  DciRoutes get(String path, Action action) {
    api.get(path, with(action));
    return this;
  }

  /** A route that reads these fields of its input. */
  DciRoutes post(String path, Set<String> fields, Action action) {
    api.body(Route.Body.FIELDS, fields).post(path, with(action));
    return this;
  }

  DciRoutes delete(String path, Action action) {
    api.delete(path, with(action));
    return this;
  }

  /** A route that reads no input except these parameters of the query. */
  void getRaw(String path, Handler handler, String... query) {
    api.query(query).get(path, guarded(handler, null));
  }

  /** A route that reads its body itself, and these parameters of the query. */
  void postRaw(String path, Handler handler, String... query) {
    api.query(query).body(Route.Body.JSON).post(path, guarded(handler, null));
  }

  private static Handler with(Action action) {
    return request -> {
      Input input = Input.of(request);
      return guarded(asked -> action.respond(asked, input), input).handle(request);
    };
  }

  /** Turns failures into errors that name the field and its value. */
  private static Handler guarded(Handler handler, @Nullable Input input) {
    return request -> {
      try {
        return handler.handle(request);
      } catch (StoreFullException e) {
        // Not the client's fault: answered like any failure of the store.
        throw e;
      } catch (InvalidRequestException e) {
        throw Refusal.of(e, input);
      } catch (PolicyException e) {
        throw Refusal.of(
            new InvalidRequestException(e.field(), String.valueOf(e.getMessage())), input);
      } catch (TaskStateException e) {
        throw Refusal.of(String.valueOf(e.getMessage()));
      } catch (JacksonException e) {
        throw Refusal.of("this JSON cannot be kept: " + JsonErrors.message(e));
      }
    };
  }
}
