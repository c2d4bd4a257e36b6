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
import io.millrace.server.security.IdentityHeader;
import io.millrace.server.security.ProxySettings;
import io.millrace.server.security.RelaySignatures;
import io.millrace.server.security.SessionCookies;
import io.millrace.server.shards.ShardedStore.Shard;
import io.millrace.wire.Responses;
import io.millrace.wire.ShardPaths;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
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

  /** Once more to the same leader if the lead has moved or the connection was lost. */
  private static final int ATTEMPTS = 2;

  /** How often a request looks for another leader while there is none that can be asked. */
  static final Duration LOOK_INTERVAL = Duration.ofMillis(50);

  /** How many times it does so, so that it waits for two seconds. */
  static final int LOOKS = 40;

  private static final byte[] NO_BODY = new byte[0];
  private static final int PART_BYTES = 16 << 10;
  private static final int SHOWN_ERROR = 300;
  private static final int TEMPORARY_REDIRECT = 307;

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

  private final List<? extends Shard> shards;
  private final Supplier<@Nullable String> own;
  private final IntFunction<String> below;
  private final Sending sending;

  /**
   * How requests are sent.
   *
   * @param front who may name the caller to this server, and how this server does so to others
   * @param pause lets {@link #LOOK_INTERVAL} pass
   */
  record Sending(HttpClient http, ProxySettings front, Pause pause) {
    /** Lets some time pass, on a thread that may wait. */
    interface Pause {
      void pause() throws InterruptedException;
    }
  }

  /**
   * Requests to these shards.
   *
   * @param own the address of this server; null if it does not listen
   * @param below the path below which a leader serves a shard, for example {@code /shards/3}
   */
  ShardRequests(
      Sending sending,
      List<? extends Shard> shards,
      Supplier<@Nullable String> own,
      IntFunction<String> below) {
    this.sending = sending;
    this.shards = List.copyOf(shards);
    this.own = own;
    this.below = below;
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
        new Sending(http, front, () -> Thread.sleep(LOOK_INTERVAL)),
        IntStream.range(0, shards.placement().shards()).mapToObj(shards::at).toList(),
        own,
        shard -> ShardPaths.PREFIX + shard);
  }

  /** The number of shards. */
  int count() {
    return shards.size();
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
    record Failure(HttpProblem problem, boolean isReached) implements Outcome {}
  }

  /**
   * A request to a shard.
   *
   * @param target path and query, as at the root
   * @param mayRepeat whether it may be done twice
   */
  private record Asked(HttpMethod method, String target, BodyPublisher body, boolean mayRepeat) {
    Asked(HttpMethod method, String target, byte[] body, boolean mayRepeat) {
      this(
          method,
          target,
          body.length == 0 ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(body),
          mayRepeat);
    }
  }

  /** A shard has not answered. */
  private static final class UnansweredException extends Exception {
    private static final long serialVersionUID = 1;

    private final transient Outcome.Failure failure;

    UnansweredException(Outcome.Failure failure) {
      super(failure.problem().message());
      this.failure = failure;
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
    Person person =
        sending.front().relays() != null && IdentityHeader.isOf(request.caller())
            ? sending.front().person(request.attempt())
            : null;
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
    return new Round(headers, request.client(), person, System.nanoTime() + timeout.toNanos());
  }

  /** Requests for one request of a client, one after the other. For one thread. */
  final class Round {
    private final Map<String, String> headers;
    private final InetAddress client;

    /** The caller if a proxy has signed them in; null if the headers say who it is. */
    private final @Nullable Person person;

    private final long endNanos;
    private final AtomicLong leftBytes = new AtomicLong(MAX_BYTES);

    private Round(
        Map<String, String> headers, InetAddress client, @Nullable Person person, long endNanos) {
      this.headers = headers;
      this.client = client;
      this.person = person;
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
      return some(IntStream.range(0, count()).boxed().toList(), method, target, body);
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
        return send(shard, new Asked(HttpMethod.GET, target, NO_BODY, true));
      } catch (UnansweredException e) {
        throw e.failure.problem();
      }
    }

    private HttpProblem unreachable(int shard, String why) {
      return named(
          HttpProblem.unavailable("shard %d cannot be asked: %s".formatted(shard, why), 1), shard);
    }

    private Outcome outcome(int shard, Future<Outcome> future, Asked asked)
        throws InterruptedException {
      if (future.isCancelled()) {
        return failure(shard, "shard %d has not answered in time".formatted(shard), true, asked);
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
          HttpResponse<InputStream> response = send(shard, asked);
          try (InputStream content = response.body()) {
            return outcome(shard, response, read(content));
          }
        } catch (UnansweredException e) {
          return e.failure;
        } catch (IOException e) {
          if (attempt == ATTEMPTS || !asked.mayRepeat()) {
            return failure(
                shard,
                "the answer of shard %d has broken off: %s".formatted(shard, e.getMessage()),
                true,
                asked);
          }
        }
      }
    }

    /**
     * Sends a request to the leader of a shard. While there is none, or the one that is known
     * cannot be asked, looks for another one, up to {@link #LOOKS} times.
     */
    private HttpResponse<InputStream> send(int shard, Asked asked)
        throws InterruptedException, UnansweredException {
      String why = "no server leads shard %d yet".formatted(shard);
      boolean isReached = false;
      String moved = null;
      Map<String, Integer> attempts = new HashMap<>();
      int looks = 0;
      while (true) {
        String address = moved != null ? moved : leader(shard);
        moved = null;
        int sent = address == null ? 0 : attempts.getOrDefault(address, 0);
        if (address == null || sent == ATTEMPTS) {
          if (looks == LOOKS || System.nanoTime() - endNanos >= 0) {
            throw new UnansweredException(failure(shard, why, isReached, asked));
          }
          looks++;
          sending.pause().pause();
          continue;
        }
        attempts.put(address, sent + 1);
        try {
          String target = below.apply(shard) + asked.target();
          HttpResponse<InputStream> response =
              sending.http().send(request(address, target, asked), BodyHandlers.ofInputStream());
          if (!isOfStandby(response)) {
            return response;
          }
          try (InputStream content = response.body()) {
            String said = new String(content.readNBytes(SHOWN_ERROR), StandardCharsets.UTF_8);
            why = "shard %d cannot be asked at %s: %s".formatted(shard, address, said);
          }
          moved =
              response.headers().firstValue("Location").flatMap(ShardRequests::server).orElse(null);
        } catch (IOException | IllegalArgumentException e) {
          isReached |=
              !(e instanceof ConnectException
                  || e instanceof HttpConnectTimeoutException
                  || e instanceof IllegalArgumentException);
          why =
              "the leader of shard %d, at %s, could not be reached: %s"
                  .formatted(shard, address, e.getMessage());
          if (isReached && !asked.mayRepeat()) {
            throw new UnansweredException(failure(shard, why, true, asked));
          }
        }
      }
    }

    /** Whether a server has done nothing, since it does not lead the shard. */
    private static boolean isOfStandby(HttpResponse<?> response) {
      int status = response.statusCode();
      return (status == TEMPORARY_REDIRECT || status == 503)
          && response.headers().firstValue(Responses.ROLE_HEADER).isPresent();
    }

    private HttpRequest request(String address, String target, Asked asked) {
      HttpRequest.Builder request =
          HttpRequest.newBuilder(URI.create(address + target))
              .method(asked.method().name(), asked.body());
      headers.forEach(request::header);
      RelaySignatures relays = sending.front().relays();
      if (relays != null) {
        request.header(
            RelaySignatures.HEADER, relays.sign(asked.method().name(), target, client, person));
      }
      return request.build();
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
                      said.length() > SHOWN_ERROR ? said.substring(0, SHOWN_ERROR) : said));
      return new Outcome.Failure(
          named(
              status == 504
                  ? problem
                  : problem.withHeader("Retry-After", passed.getOrDefault("Retry-After", "1")),
              shard),
          true);
    }
  }

  /** 503, or 504 if the shard may have made a change that must not be made twice. */
  private Outcome.Failure failure(int shard, String why, boolean isReached, Asked asked) {
    HttpProblem problem =
        isReached && !asked.mayRepeat()
            ? new HttpProblem(504, why + "; it is not known whether it was done")
            : HttpProblem.unavailable(why, 1);
    return new Outcome.Failure(named(problem, shard), isReached);
  }

  /** The problem with the header that says which shard has it. */
  HttpProblem named(HttpProblem problem, int shard) {
    return problem.withHeader(Responses.SHARD_HEADER, shard + "/" + shards.size());
  }

  /** The address of the leader of a shard; null if there is none at the moment. */
  @Nullable String leader(int number) {
    Shard shard = shards.get(number);
    return shard.led() == null ? shard.leader() : own.get();
  }

  /** The server of an address: its scheme, host and port. */
  private static Optional<String> server(String location) {
    try {
      URI address = URI.create(location);
      boolean web = "http".equals(address.getScheme()) || "https".equals(address.getScheme());
      return web && address.getRawAuthority() != null
          ? Optional.of(address.getScheme() + "://" + address.getRawAuthority())
          : Optional.empty();
    } catch (IllegalArgumentException _) {
      return Optional.empty();
    }
  }
}
