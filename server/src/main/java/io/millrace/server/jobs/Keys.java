package io.millrace.server.jobs;

import io.millrace.server.http.Gate;
import io.millrace.server.http.HttpProblem;
import io.millrace.server.http.Request;
import io.millrace.server.security.Pass;
import io.millrace.server.security.Token;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The secrets of clients and workers, compared in constant time. */
final class Keys {
  private static final String API_KEY = "X-API-KEY";
  private static final String WORKER_TOKEN = "X-WORKER-TOKEN";
  private static final List<String> OF_CLIENTS =
      List.of("/api/jobs", "/api/batches", "/api/types", "/api/workers", "/api/events");
  private static final String OF_WORKERS = "/api/worker";
  private static final Pattern REPORT =
      Pattern.compile("/api/jobs/[^/]*/(result|failure|progress)");

  private final @Nullable Token apiKey;
  private final @Nullable Token workerToken;

  /** Null for what is not needed. */
  Keys(@Nullable Token apiKey, @Nullable Token workerToken) {
    this.apiKey = apiKey;
    this.workerToken = workerToken;
  }

  /**
   * What opens the job API on a server that has a token: the API key for clients, the registration
   * token for workers. So nobody who submits or works on jobs needs the server's token, which can
   * run programs. A secret that is not configured opens nothing.
   *
   * <p>A registration is a message or a body, so the paths of workers are open and the registration
   * itself is checked later, by its token.
   *
   * @param prefix the path below which the API is served too; empty for none
   */
  Pass pass(String prefix) {
    return (path, headers) ->
        opens(path, headers)
            || (!prefix.isEmpty()
                && path.startsWith(prefix + "/")
                && opens(path.substring(prefix.length()), headers));
  }

  private boolean opens(String path, Gate.Headers headers) {
    if (workerToken != null
        && (isBelow(path, OF_WORKERS)
            || (REPORT.matcher(path).matches() && is(workerToken, headers.only(WORKER_TOKEN))))) {
      return true;
    }
    if (apiKey == null || OF_CLIENTS.stream().noneMatch(root -> isBelow(path, root))) {
      return false;
    }
    String given = headers.only(API_KEY);
    if (given != null && !apiKey.is(given)) {
      throw wrong(API_KEY);
    }
    return given != null;
  }

  private static boolean is(Token secret, @Nullable String given) {
    return given != null && secret.is(given);
  }

  /** Routes are matched by the parts between slashes, so no other path leads there. */
  private static boolean isBelow(String path, String root) {
    return path.startsWith(root)
        && (path.length() == root.length() || path.charAt(root.length()) == '/');
  }

  private static HttpProblem wrong(String header) {
    return new HttpProblem(403, "the header " + header + " is not that of this server");
  }

  /**
   * Lets a client pass.
   *
   * @throws HttpProblem 401 without the key, 403 with another
   */
  void checkClient(Request request) {
    check(request, apiKey, API_KEY);
  }

  /**
   * Lets a worker pass that reports on its job; a client with the API key may do so too.
   *
   * @throws HttpProblem 401 without a token, 403 with another
   */
  void checkHolder(Request request) {
    Token key = apiKey;
    boolean isClient = key != null && request.header(API_KEY).filter(key::is).isPresent();
    if (!isClient) {
      check(request, workerToken, WORKER_TOKEN);
    }
  }

  private static void check(Request request, @Nullable Token secret, String header) {
    if (secret == null) {
      return;
    }
    String given = request.header(header).orElse(null);
    if (given == null) {
      throw new HttpProblem(401, "this server wants the header " + header);
    }
    if (!secret.is(given)) {
      throw wrong(header);
    }
  }
}
