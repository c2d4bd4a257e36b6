package io.millrace.server.shards;

import io.millrace.server.shards.ShardedStore.Shard;
import io.millrace.wire.Placement;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Spreads the leaders of shards over the servers. A server that leads two shards fewer than another
 * one asks that one for a shard; where a leader has ended, a server that has its share already lets
 * others go first. The first shard goes nowhere, since everything else runs with it.
 */
public final class Spread {
  private static final Logger LOG = LoggerFactory.getLogger(Spread.class);
  private static final Duration EVERY = Duration.ofSeconds(1);

  /**
   * How long a server that was asked gets to hand a shard over, before another one is asked for.
   */
  private static final Duration AFTER_ASKING = Duration.ofSeconds(3);

  private static final Duration TIMEOUT = Duration.ofSeconds(2);

  /** How long a server with its share waits, and again for each shard that it has besides. */
  private static final Duration HOLD_BACK = Duration.ofMillis(100);

  private final List<? extends Shard> shards;
  private final Supplier<@Nullable String> address;
  private final @Nullable String token;
  private final HttpClient http;
  private boolean told;

  /**
   * A shard to ask for.
   *
   * @param from the address of its leader
   */
  record Wish(int shard, String from) {}

  /**
   * The leaders as one server sees them.
   *
   * @param leaders by shard: addresses, and null for none at the moment
   * @param own the address of the server
   */
  record View(List<Optional<String>> leaders, String own) {
    private Map<String, Integer> counts() {
      Map<String, Integer> counts = new HashMap<>(Map.of(own, 0));
      leaders.forEach(leader -> leader.ifPresent(it -> counts.merge(it, 1, Integer::sum)));
      return counts;
    }

    private int ownCount() {
      return counts().getOrDefault(own, 0);
    }

    /** The shard to ask for; empty if they are spread, or some has no leader. */
    Optional<Wish> wish() {
      if (leaders.stream().anyMatch(Optional::isEmpty)) {
        return Optional.empty();
      }
      Map<String, Integer> counts = counts();
      Wish best = null;
      int most = ownCount() + 1;
      for (int shard = Placement.HOME + 1; shard < leaders.size(); shard++) {
        String leader = leaders.get(shard).orElse(own);
        int count = counts.getOrDefault(leader, 0);
        if (count > most) {
          most = count;
          best = new Wish(shard, leader);
        }
      }
      return Optional.ofNullable(best);
    }

    /** How long the server leaves a shard without a leader to others. */
    Duration patience() {
      int servers = counts().size();
      int share = (leaders.size() + servers - 1) / servers;
      return HOLD_BACK.multipliedBy(Math.max(0, ownCount() - share + 1));
    }
  }

  /**
   * The spread as one server works at it.
   *
   * @param http asks the other servers
   * @param address where clients reach this server; null if it does not listen
   * @param token that of all servers, which they show each other; null for none
   */
  public Spread(
      HttpClient http,
      List<? extends Shard> shards,
      Supplier<@Nullable String> address,
      @Nullable String token) {
    this.http = http;
    this.shards = List.copyOf(shards);
    this.address = address;
    this.token = token;
  }

  private View view(String own) {
    List<Optional<String>> leaders = new ArrayList<>();
    for (Shard shard : shards) {
      leaders.add(shard.led() == null ? Optional.ofNullable(shard.leader()) : Optional.of(own));
    }
    return new View(leaders, own);
  }

  /** How long this server leaves a shard without a leader to others. */
  public Duration patience() {
    String own = address.get();
    return own == null ? Duration.ZERO : view(own).patience();
  }

  /** Asks for a shard if this server leads too few. For one thread. */
  public Instant step(Instant now) {
    String own = address.get();
    if (own == null) {
      return now.plus(EVERY);
    }
    Optional<Wish> wish = view(own).wish();
    if (wish.isEmpty()) {
      return now.plus(EVERY);
    }
    try {
      ask(wish.get(), own);
    } catch (SSLException e) {
      tell(
          "{} cannot be asked for a shard ({}): server.tls.trusted names the certificates of the"
              + " servers that share a store",
          wish.get().from(),
          String.valueOf(e.getMessage()));
    } catch (IOException | IllegalArgumentException e) {
      LOG.debug("{} could not be asked for a shard", wish.get().from(), e);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
    return now.plus(AFTER_ASKING);
  }

  private void ask(Wish wish, String own) throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(
                URI.create(
                    "%s/shards/%d/hand-over?to=%s"
                        .formatted(
                            wish.from(),
                            wish.shard(),
                            URLEncoder.encode(own, StandardCharsets.UTF_8))))
            .timeout(TIMEOUT)
            .POST(HttpRequest.BodyPublishers.noBody());
    if (token != null) {
      var _ = request.header("Authorization", "Bearer " + token);
    }
    int status = http.send(request.build(), BodyHandlers.discarding()).statusCode();
    if (status == 401 || status == 403) {
      tell(
          "{} does not hand over shards to this server (status {}): servers that share a store with"
              + " shards and require credentials need the same server.token-file",
          wish.from(),
          status);
    } else {
      told = false;
    }
  }

  /** Warns, once until a server has answered. */
  private void tell(String message, Object... arguments) {
    if (!told) {
      LOG.warn(message, arguments);
    }
    told = true;
  }
}
