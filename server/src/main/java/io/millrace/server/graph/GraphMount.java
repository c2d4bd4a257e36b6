package io.millrace.server.graph;

import io.millrace.graph.Caller;
import io.millrace.graph.GraphException;
import io.millrace.graph.GraphFullException;
import io.millrace.graph.InvalidGraphException;
import io.millrace.graph.NodeStateException;
import io.millrace.graph.NotAllowedException;
import io.millrace.graph.StaleViewException;
import io.millrace.graph.UnknownKeyException;
import io.millrace.graph.UnknownNodeException;
import io.millrace.graph.VersionException;
import io.millrace.graph.VersionLostException;
import io.millrace.server.http.HttpMethod;
import io.millrace.server.http.HttpProblem;
import io.millrace.server.http.Reply;
import io.millrace.server.http.Request;
import io.millrace.server.http.Routes;
import io.millrace.server.security.Bearer;
import java.io.IOException;
import java.util.Set;

/** Adds routes below {@code /v1}, which know who asks, with one form of errors. */
final class GraphMount {
  /** Where this API is. */
  static final String ROOT = "/v1";

  private final Routes routes;
  private final GraphTokens tokens;

  GraphMount(Routes routes, GraphTokens tokens) {
    this.routes = routes;
    this.tokens = tokens;
  }

  /** Answers a request of somebody. */
  @FunctionalInterface
  interface Action {
    Reply answer(Request request, Caller caller) throws IOException, InterruptedException;
  }

  /**
   * A route.
   *
   * @param known the parameters of the query that it understands; another one is answered with 400
   */
  void add(HttpMethod method, String path, Set<String> known, Action action) {
    routes.add(
        method,
        ROOT + path,
        request -> {
          request.query().checkNames(known);
          try {
            return action.answer(request, caller(request));
          } catch (RuntimeException e) {
            throw meaning(e);
          }
        });
  }

  /**
   * Who asks: a command that runs as a node where its token says so, anybody else without.
   *
   * @throws HttpProblem 403 for such a token that is not valid, or not any more
   */
  private Caller caller(Request request) {
    String token = Bearer.in(request.header("Authorization").orElse(null)).orElse("");
    if (!GraphTokens.isOne(token)) {
      return Caller.ANYONE;
    }
    return tokens
        .holder(token)
        .orElseThrow(
            () -> new HttpProblem(403, "this token is not that of an attempt that runs now"));
  }

  /** What a failure means to a client. */
  static RuntimeException meaning(RuntimeException e) {
    String message = String.valueOf(e.getMessage());
    return switch (e) {
      case InvalidGraphException _ -> HttpProblem.malformed(message);
      case NotAllowedException _ -> new HttpProblem(403, message);
      case UnknownNodeException _ -> HttpProblem.notFound(message);
      case UnknownKeyException _ -> HttpProblem.notFound(message);
      case NodeStateException _ -> new HttpProblem(409, message);
      case StaleViewException _ -> new HttpProblem(409, message);
      case VersionLostException _ -> new HttpProblem(410, message);
      case VersionException _ -> new HttpProblem(412, message);
      case GraphFullException _ -> HttpProblem.unavailable(message, 1);
      case GraphException _ -> HttpProblem.unavailable(message, 1);
      default -> e;
    };
  }
}
