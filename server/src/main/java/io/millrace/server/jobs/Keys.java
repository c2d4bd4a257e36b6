package io.millrace.server.jobs;

import io.millrace.server.http.HttpProblem;
import io.millrace.server.http.Request;
import io.millrace.server.security.Token;
import org.jspecify.annotations.Nullable;

/** The secrets of clients and workers, compared in constant time. */
final class Keys {
  private static final String API_KEY = "X-API-KEY";
  private static final String WORKER_TOKEN = "X-WORKER-TOKEN";

  private final @Nullable Token apiKey;
  private final @Nullable Token workerToken;

  /** Null for what is not needed. */
  Keys(@Nullable Token apiKey, @Nullable Token workerToken) {
    this.apiKey = apiKey;
    this.workerToken = workerToken;
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
      throw new HttpProblem(403, "the header " + header + " is not that of this server");
    }
  }
}
