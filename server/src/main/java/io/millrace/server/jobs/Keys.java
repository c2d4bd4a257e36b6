package io.millrace.server.jobs;

import io.millrace.access.Reach;
import io.millrace.http.AccessCheck.Credentials;
import io.millrace.http.Caller;
import io.millrace.http.Caller.Role;
import io.millrace.http.message.Headers;
import io.millrace.http.message.HttpProblem;
import io.millrace.server.security.ConfiguredPrincipal;
import io.millrace.server.security.Principals;
import io.millrace.server.security.Token;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The secrets of clients and workers, compared in constant time. Each opens its own routes on a
 * server that has a token, so nobody who submits or works on jobs needs that token, which can run
 * programs. A secret that is not configured opens nothing and is not asked for.
 *
 * @param apiKey that of clients, in the header {@code X-API-KEY}; null for none
 * @param clientTypes prefixes of the job types to which the API key is limited; empty for no limit
 * @param workerToken that of workers, in {@code X-WORKER-TOKEN} or the registration; null for none
 * @param workerTypes prefixes of the job types to which the token of workers is limited; empty for
 *     no limit
 */
record Keys(
    @Nullable Token apiKey,
    Set<String> clientTypes,
    @Nullable Token workerToken,
    Set<String> workerTypes) {
  private static final String API_KEY = "X-API-KEY";
  private static final String WORKER_TOKEN = "X-WORKER-TOKEN";

  Keys(JobsSettings settings) {
    this(
        settings.access().apiKey(),
        settings.access().types(),
        settings.workers().token(),
        settings.workers().types());
  }

  private Caller client() {
    return new Caller("API key", Role.OPERATOR.andBelow(), reach(clientTypes));
  }

  private Caller worker() {
    return new Caller("worker", Role.WORKER.andBelow(), reach(workerTypes));
  }

  private static Caller.Reach reach(Set<String> types) {
    return types.isEmpty()
        ? Caller.Reach.EVERYTHING
        : new Principals.Limited(new Reach(Set.of(), Set.of(), types, Set.of()));
  }

  private static Set<Role> clientAndWorker() {
    Set<Role> roles = EnumSet.copyOf(Role.OPERATOR.andBelow());
    roles.add(Role.WORKER);
    return roles;
  }

  /** Who has these secrets, as far as they are configured. */
  List<ConfiguredPrincipal> principals() {
    List<ConfiguredPrincipal> principals = new ArrayList<>();
    if (apiKey != null) {
      principals.add(new ConfiguredPrincipal(client(), "jobs.api-key"));
    }
    if (workerToken != null) {
      principals.add(new ConfiguredPrincipal(worker(), "jobs.worker.token"));
    }
    return principals;
  }

  /** What clients must show if there is an API key. */
  Credentials clients() {
    return new Header(API_KEY, apiKey, client());
  }

  /**
   * What a worker must show that reports on its job, if workers have a token; a client with the API
   * key may report too.
   */
  Credentials holders() {
    Header ofWorkers = new Header(WORKER_TOKEN, workerToken, worker());
    Caller holder = new Caller("API key", clientAndWorker(), reach(clientTypes));
    return new Credentials() {
      @Override
      public @Nullable Caller caller(Headers headers) {
        String key = headers.only(API_KEY);
        return apiKey != null && key != null && apiKey.is(key) ? holder : ofWorkers.caller(headers);
      }

      @Override
      public boolean isShown(Headers headers) {
        return headers.only(API_KEY) != null || ofWorkers.isShown(headers);
      }

      @Override
      public boolean isRequired() {
        return ofWorkers.isRequired();
      }

      @Override
      public HttpProblem absent() {
        return ofWorkers.absent();
      }

      @Override
      public List<String> schemes() {
        return List.of("apiKey", "workerToken");
      }
    };
  }

  /**
   * What lets workers in that register: nothing if they have a token. It comes in the registration,
   * a message or a body, and is checked there.
   */
  Credentials workers() {
    Caller worker = worker();
    return _ -> workerToken == null ? null : worker;
  }

  /** A secret in a header. */
  private record Header(String name, @Nullable Token secret, Caller holder) implements Credentials {
    @Override
    public @Nullable Caller caller(Headers headers) {
      String given = secret == null ? null : headers.only(name);
      if (given == null || secret == null) {
        return null;
      }
      if (!secret.is(given)) {
        throw new HttpProblem(403, "the header " + name + " is not that of this server")
            .ofWrongCredentials();
      }
      return holder;
    }

    @Override
    public boolean isShown(Headers headers) {
      return headers.only(name) != null;
    }

    @Override
    public boolean isRequired() {
      return secret != null;
    }

    @Override
    public HttpProblem absent() {
      return secret == null
          ? Credentials.super.absent()
          : new HttpProblem(401, "this server requires the header " + name);
    }

    @Override
    public List<String> schemes() {
      return List.of(name.equals(API_KEY) ? "apiKey" : "workerToken");
    }
  }
}
