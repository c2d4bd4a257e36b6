package io.millrace.server.shards;

import io.millrace.http.AccessCheck.Person;
import io.millrace.http.Caller;
import io.millrace.http.PendingWait;
import io.millrace.http.Request;
import io.millrace.http.json.Json;
import io.millrace.http.message.Headers;
import io.millrace.http.message.HttpMethod;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import io.millrace.server.security.ProxySettings;
import io.millrace.server.security.SessionCookies;
import io.millrace.server.shards.LeaderRequests.Asked;
import io.millrace.server.shards.LeaderRequests.Origin;
import io.millrace.server.shards.LeaderRequests.Sending;
import io.millrace.server.shards.LeaderRequests.UnansweredException;
import io.millrace.wire.Responses;
import io.millrace.wire.ShardPaths;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * Sends requests to the leaders of all shards at once, with the credentials of a caller.
 * Thread-safe.
 */
public final class ShardRequests {
  /** The most bytes that all answers for one request have together. */
  static final int MAX_BYTES = 32 << 20;

  private static final byte[] NO_BODY = new byte[0];
  private static final int PART_BYTES = 16 << 10;

  private static final List<String> CREDENTIALS =
      List.of(Headers.AUTHORIZATION, "X-API-KEY", "X-WORKER-TOKEN");

  private static final List<String> OTHERS =
      List.of(
          "Accept",
          "Content-Type",
          SessionCookies.CSRF_HEADER,
          "Sec-Fetch-Site",
          "traceparent",
          "tracestate");

  /** The headers of an answer that is passed on while it arrives. */
  private static final List<String> OF_ANSWERS =
      List.of(
          "Location",
          "Retry-After",
          "Cache-Control",
          "Content-Disposition",
          "Content-Security-Policy",
          "X-Content-Type-Options",
          Responses.POSITION_HEADER);

  /** The headers of an error that a client needs. */
  private static final List<String> OF_ERRORS = List.of("Retry-After", "WWW-Authenticate");

  private final LeaderRequests leaders;

  /** Requests to the shards of these leaders. */
  ShardRequests(LeaderRequests leaders) {
    this.leaders = leaders;
  }

  /**
   * Requests to the leaders of shards.
   *
   * @param http sends them
   * @param own the address of this server; null if it does not listen
   * @param front who may name the caller to this server, and how this server does so to others
   */
  public static ShardRequests of(
      HttpClient http, ShardedStore shards, Supplier<@Nullable String> own, ProxySettings front) {
    return new ShardRequests(
        new LeaderRequests(
            new Sending(http, front, () -> Thread.sleep(LeaderRequests.LOOK_INTERVAL)),
            IntStream.range(0, shards.placement().shards()).mapToObj(shards::at).toList(),
            own,
            shard -> ShardPaths.PREFIX + shard));
  }

  /** Their leaders. */
  LeaderRequests leaders() {
    return leaders;
  }

  /** What one shard has said, or why it has not. */
  sealed interface Outcome {
    /** The shard has answered, with a status below 500. */
    final class Answer implements Outcome {
      private final int status;
      private final byte[] body;
      private final Response passedOn;

      /**
       * An answer.
       *
       * @param headers those of an error that its client needs
       */
      private Answer(int status, String type, Map<String, String> headers, byte[] body) {
        this.status = status;
        this.body = body;
        this.passedOn = new Response.Whole(status, type, headers, body);
      }

      int status() {
        return status;
      }

      /** Its body as a text. */
      String text() {
        return new String(body, StandardCharsets.UTF_8);
      }

      /** Whether it is what was asked for. */
      boolean isGood() {
        return status >= 200 && status < 300;
      }

      /**
       * What it says.
       *
       * @throws JacksonException if it is not JSON
       */
      JsonNode json() {
        return Json.read(body);
      }

      /** The same answer to the client. */
      Response passedOn() {
        return passedOn;
      }
    }

    /**
     * There is no answer.
     *
     * @param isReached whether the shard may have got the request, so that a change may be made
     */
    record Failure(HttpProblem problem, boolean isReached) implements Outcome {
      private Failure(UnansweredException e) {
        this(e.problem(), e.isReached());
      }
    }
  }

  /** The body of an answer that is passed on while it arrives. */
  private record Relayed(InputStream content) implements Response.Body {
    @Override
    public void writeTo(OutputStream target) throws IOException {
      byte[] part = new byte[PART_BYTES];
      for (int length = content.read(part); length >= 0; length = content.read(part)) {
        target.write(part, 0, length);
        target.flush();
      }
    }

    @Override
    public void close() {
      try {
        content.close();
      } catch (IOException _) {
        // Nobody reads it any more.
      }
    }
  }

  /**
   * Requests for one request of a client.
   *
   * @param timeout how long they may take together
   * @throws HttpProblem 403 if the credentials of the caller cannot be passed on
   */
  Round begin(Request request, Duration timeout) {
    Map<String, String> headers = new LinkedHashMap<>();
    Person person = leaders.person(request);
    if (person == null) {
      for (String name : CREDENTIALS) {
        request.header(name).ifPresent(value -> headers.put(name, value));
      }
      request
          .header("Cookie")
          .ifPresent(value -> headers.put("Cookie", SessionCookies.passedOn(value)));
      if (headers.isEmpty() && !request.caller().equals(Caller.LOCAL)) {
        throw new HttpProblem(
            403,
            "what names %s as the caller is not passed on to the leaders of shards; ask each of them below /shards/K/"
                .formatted(request.caller().principal()));
      }
    }
    for (String name : OTHERS) {
      request.header(name).ifPresent(value -> headers.put(name, value));
    }
    return new Round(
        new Origin(headers, request.client(), person), System.nanoTime() + timeout.toNanos());
  }

  /** Requests for one request of a client, one after the other. For one thread. */
  final class Round {
    private final Origin origin;
    private final long endNanos;
    private final AtomicLong leftBytes = new AtomicLong(MAX_BYTES);

    private Round(Origin origin, long endNanos) {
      this.origin = origin;
      this.endNanos = endNanos;
    }

    /**
     * Asks all shards for what may be done twice.
     *
     * @param target path and query, as at the root
     * @param body empty for none
     * @return by shard
     * @throws HttpProblem 400 if their answers are too long together
     */
    List<Outcome> all(HttpMethod method, String target, byte[] body) throws InterruptedException {
      return some(IntStream.range(0, leaders.count()).boxed().toList(), method, target, body);
    }

    /** The same for some shards: in their order. */
    List<Outcome> some(List<Integer> numbers, HttpMethod method, String target, byte[] body)
        throws InterruptedException {
      return outcomes(numbers, new Asked(method, target, body, true));
    }

    /**
     * Asks one shard.
     *
     * @param reads whether it only reads, whatever its method
     * @return 504 if it is not known whether a change was made that must not be made twice
     */
    Outcome one(int shard, HttpMethod method, String target, byte[] body, boolean reads)
        throws InterruptedException {
      boolean mayRepeat =
          switch (method) {
            case GET, HEAD, OPTIONS, PUT, DELETE -> true;
            case POST, PATCH -> reads;
          };
      return outcomes(List.of(shard), new Asked(method, target, body, mayRepeat)).getFirst();
    }

    private List<Outcome> outcomes(List<Integer> numbers, Asked asked) throws InterruptedException {
      List<Callable<Outcome>> calls =
          numbers.stream().<Callable<Outcome>>map(shard -> () -> ask(shard, asked)).toList();
      List<Outcome> outcomes = new ArrayList<>();
      try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        List<Future<Outcome>> futures =
            threads.invokeAll(
                calls, Math.max(1, endNanos - System.nanoTime()), TimeUnit.NANOSECONDS);
        for (int i = 0; i < futures.size(); i++) {
          outcomes.add(outcome(numbers.get(i), futures.get(i), asked));
        }
      }
      return outcomes;
    }

    /** What asks shards. */
    interface Asking {
      List<Outcome> ask() throws InterruptedException;
    }

    /**
     * Asks shards that answer once something has happened. Ends with the request.
     *
     * @throws HttpProblem 503 if the server stops, or the credentials of the caller have ended
     */
    List<Outcome> awaited(Request request, Asking asking) throws InterruptedException {
      Thread thread = Thread.currentThread();
      AtomicBoolean over = new AtomicBoolean();
      try (PendingWait _ =
          request.beginWait(_ -> {
            over.set(true);
            thread.interrupt();
          })) {
        return asking.ask();
      } catch (InterruptedException e) {
        if (over.get()) {
          throw HttpProblem.unavailable("the server stops, or the credentials have ended", 1);
        }
        throw e;
      } finally {
        if (over.get()) {
          boolean _ = Thread.interrupted();
        }
      }
    }

    /**
     * Opens a stream of events of a shard.
     *
     * @throws HttpProblem if it is refused, or the shard has no leader or does not answer
     */
    InputStream stream(int shard, String target) throws InterruptedException {
      HttpResponse<InputStream> response = read(shard, target);
      if (response.statusCode() == 200) {
        return response.body();
      }
      try (InputStream content = response.body()) {
        switch (outcome(shard, response, read(content))) {
          case Outcome.Answer answer -> throw new HttpProblem(answer.status(), answer.text());
          case Outcome.Failure(HttpProblem problem, boolean _) -> throw problem;
        }
      } catch (IOException e) {
        throw unreachable(shard, String.valueOf(e.getMessage()));
      }
    }

    /**
     * The answer of a shard to a read, which is passed on while it arrives.
     *
     * @throws HttpProblem if the shard has no leader or does not answer
     */
    Response relayed(int shard, String target) throws InterruptedException {
      HttpResponse<InputStream> response = read(shard, target);
      Map<String, String> passed = new LinkedHashMap<>();
      for (String name : OF_ANSWERS) {
        response.headers().firstValue(name).ifPresent(value -> passed.put(name, value));
      }
      return new Response.Streamed(
          response.statusCode(),
          response.headers().firstValue("Content-Type").orElse(Response.JSON),
          passed,
          response.headers().firstValueAsLong("Content-Length").orElse(-1),
          new Relayed(response.body()));
    }

    /** The answer of a shard to a read, whose body may take any time. */
    private HttpResponse<InputStream> read(int shard, String target) throws InterruptedException {
      try {
        return leaders.send(
            shard, new Asked(HttpMethod.GET, target, NO_BODY, true), origin, endNanos);
      } catch (UnansweredException e) {
        throw e.problem();
      }
    }

    private HttpProblem unreachable(int shard, String why) {
      return leaders.named(
          HttpProblem.unavailable("shard %d cannot be asked: %s".formatted(shard, why), 1), shard);
    }

    private Outcome outcome(int shard, Future<Outcome> future, Asked asked)
        throws InterruptedException {
      if (future.isCancelled()) {
        return new Outcome.Failure(
            leaders.unanswered(
                shard, "shard %d has not answered in time".formatted(shard), true, asked));
      }
      try {
        return future.get();
      } catch (ExecutionException e) {
        if (e.getCause() instanceof HttpProblem problem) {
          throw problem;
        }
        throw new IllegalStateException("shard " + shard + " could not be asked", e.getCause());
      }
    }

    private Outcome ask(int shard, Asked asked) throws InterruptedException {
      for (int attempt = 1; true; attempt++) {
        try {
          HttpResponse<InputStream> response = leaders.send(shard, asked, origin, endNanos);
          try (InputStream content = response.body()) {
            return outcome(shard, response, read(content));
          }
        } catch (UnansweredException e) {
          return new Outcome.Failure(e);
        } catch (IOException e) {
          if (attempt == LeaderRequests.ATTEMPTS || !asked.mayRepeat()) {
            return new Outcome.Failure(
                leaders.unanswered(
                    shard,
                    "the answer of shard %d has broken off: %s".formatted(shard, e.getMessage()),
                    true,
                    asked));
          }
        }
      }
    }

    /** The whole answer, as far as there is room for it. */
    private byte[] read(InputStream content) throws IOException {
      ByteArrayOutputStream read = new ByteArrayOutputStream();
      byte[] part = new byte[PART_BYTES];
      for (int length = content.read(part); length >= 0; length = content.read(part)) {
        if (leftBytes.addAndGet(-length) < 0) {
          throw MergedLists.nameOne(
              "the answers of all shards have more than %d MiB together; take shorter pages, or"
                      .formatted(MAX_BYTES >> 20)
                  + " fewer fields");
        }
        read.write(part, 0, length);
      }
      return read.toByteArray();
    }

    private Outcome outcome(int shard, HttpResponse<InputStream> response, byte[] body) {
      int status = response.statusCode();
      Map<String, String> passed = new LinkedHashMap<>();
      for (String name : OF_ERRORS) {
        response.headers().firstValue(name).ifPresent(value -> passed.put(name, value));
      }
      if (status < 500) {
        String type = response.headers().firstValue("Content-Type").orElse(Response.JSON);
        return new Outcome.Answer(status, type, passed, body);
      }
      String said = new String(body, StandardCharsets.UTF_8).strip();
      HttpProblem problem =
          new HttpProblem(
              status == 503 || status == 504 ? status : 502,
              "shard %d answers with status %d: %s"
                  .formatted(
                      shard,
                      status,
                      said.substring(0, Math.min(said.length(), LeaderRequests.SHOWN_ERROR))));
      return new Outcome.Failure(
          leaders.named(
              status == 504
                  ? problem
                  : problem.withHeader("Retry-After", passed.getOrDefault("Retry-After", "1")),
              shard),
          true);
    }
  }
}
