package io.millrace.server.shards;

import io.millrace.http.AccessCheck.Person;
import io.millrace.http.Request;
import io.millrace.http.message.HttpMethod;
import io.millrace.http.message.HttpProblem;
import io.millrace.server.security.IdentityHeader;
import io.millrace.server.security.ProxySettings;
import io.millrace.server.security.RelaySignatures;
import io.millrace.server.shards.ShardedStore.Shard;
import io.millrace.wire.Responses;
import java.io.IOException;
import java.io.InputStream;
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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Sends a request to the leader of a shard, and follows the lead when it moves. Thread-safe. */
final class LeaderRequests {
  /** How often a request looks for another leader while there is none that can be asked. */
  static final Duration LOOK_INTERVAL = Duration.ofMillis(50);

  /** How many times it does so, so that it waits for two seconds. */
  static final int LOOKS = 40;

  /** How much of the error of a shard is shown, in characters or bytes of UTF-8. */
  static final int SHOWN_ERROR = 300;

  /**
   * How often a request is sent to the same leader: once more if the lead has moved, or the
   * connection was lost.
   */
  static final int ATTEMPTS = 2;

  private static final int TEMPORARY_REDIRECT = 307;

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
  LeaderRequests(
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
   * A request to a shard.
   *
   * @param target path and query, as at the root
   * @param mayRepeat whether it may be done twice
   */
  record Asked(HttpMethod method, String target, BodyPublisher body, boolean mayRepeat) {
    Asked(HttpMethod method, String target, byte[] body, boolean mayRepeat) {
      this(
          method,
          target,
          body.length == 0 ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(body),
          mayRepeat);
    }
  }

  /**
   * The client for whose request others are sent.
   *
   * @param headers those that each of them has
   * @param address of the client
   * @param person the caller if a proxy has signed them in; null if the headers say who it is
   */
  record Origin(Map<String, String> headers, InetAddress address, @Nullable Person person) {}

  /** A shard has not answered. */
  static final class UnansweredException extends Exception {
    private static final long serialVersionUID = 1;

    private final transient HttpProblem problem;
    private final boolean isReached;

    UnansweredException(HttpProblem problem, boolean isReached) {
      super(problem.message());
      this.problem = problem;
      this.isReached = isReached;
    }

    HttpProblem problem() {
      return problem;
    }

    /** Whether the shard may have got the request, so that a change may be made. */
    boolean isReached() {
      return isReached;
    }
  }

  /** The number of shards. */
  int count() {
    return shards.size();
  }

  /** The caller whom a proxy has signed in, if leaders can be told; otherwise null. */
  @Nullable Person person(Request request) {
    ProxySettings front = sending.front();
    return front.relays() != null && IdentityHeader.isOf(request.caller())
        ? front.person(request.attempt())
        : null;
  }

  /**
   * Sends a request to the leader of a shard. While there is none, or the one that is known cannot
   * be asked, looks for another one, up to {@link #LOOKS} times.
   *
   * @param endNanos when it stops looking, as {@link System#nanoTime}
   * @return an answer of a leader, whatever its status
   */
  HttpResponse<InputStream> send(int shard, Asked asked, Origin origin, long endNanos)
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
          throw unanswered(shard, why, isReached, asked);
        }
        looks++;
        sending.pause().pause();
        continue;
      }
      attempts.put(address, sent + 1);
      try {
        String target = below.apply(shard) + asked.target();
        HttpResponse<InputStream> response =
            sending
                .http()
                .send(request(address, target, asked, origin), BodyHandlers.ofInputStream());
        if (!isOfStandby(response)) {
          return response;
        }
        try (InputStream content = response.body()) {
          String said = new String(content.readNBytes(SHOWN_ERROR), StandardCharsets.UTF_8);
          why = "shard %d cannot be asked at %s: %s".formatted(shard, address, said);
        }
        moved =
            response.headers().firstValue("Location").flatMap(LeaderRequests::server).orElse(null);
      } catch (IOException | IllegalArgumentException e) {
        isReached |=
            !(e instanceof ConnectException
                || e instanceof HttpConnectTimeoutException
                || e instanceof IllegalArgumentException);
        why =
            "the leader of shard %d, at %s, could not be reached: %s"
                .formatted(shard, address, e.getMessage());
        if (isReached && !asked.mayRepeat()) {
          throw unanswered(shard, why, true, asked);
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

  private HttpRequest request(String address, String target, Asked asked, Origin origin) {
    String method = asked.method().name();
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(address + target)).method(method, asked.body());
    origin.headers().forEach(request::header);
    RelaySignatures relays = sending.front().relays();
    if (relays != null) {
      request.header(
          RelaySignatures.HEADER, relays.sign(method, target, origin.address(), origin.person()));
    }
    return request.build();
  }

  /** With 503, or 504 if the shard may have made a change that must not be made twice. */
  UnansweredException unanswered(int shard, String why, boolean isReached, Asked asked) {
    HttpProblem problem =
        isReached && !asked.mayRepeat()
            ? new HttpProblem(504, why + "; it is not known whether it was done")
            : HttpProblem.unavailable(why, 1);
    return new UnansweredException(named(problem, shard), isReached);
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
