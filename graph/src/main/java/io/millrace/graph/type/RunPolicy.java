package io.millrace.graph.type;

import io.millrace.graph.GraphException.InvalidGraphException;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * How often a node is tried, and for how long: what the keys {@code retries}, {@code backoff} and
 * {@code timeout} of every working node say. Immutable.
 *
 * @param retries how many attempts may follow a failed first one by themselves, 0 to 1000; 0 if
 *     unset. A requested retry counts as well
 * @param backoff how long after the first failure the second attempt begins, from zero to a day; a
 *     second if unset. Doubled with every attempt up to {@link #LONGEST_BACKOFF}
 * @param timeout how long an attempt may take, from a millisecond to 365 days; null for ever
 */
public record RunPolicy(int retries, Duration backoff, @Nullable Duration timeout) {
  /** One attempt, however long it takes. */
  public static final RunPolicy DEFAULT = new RunPolicy(0, Duration.ofSeconds(1), null);

  /** The longest pause between attempts: an hour, or {@code backoff} if that is longer. */
  public static final Duration LONGEST_BACKOFF = Duration.ofHours(1);

  private static final int MAX_RETRIES = 1000;
  private static final String RETRIES = "retries";
  private static final String BACKOFF = "backoff";
  private static final String TIMEOUT = "timeout";
  private static final long DAY_MILLIS = Duration.ofDays(1).toMillis();
  private static final long YEAR_MILLIS = Duration.ofDays(365).toMillis();

  /**
   * The keys {@code retries}, {@code backoff} and {@code timeout} together with those of a type.
   */
  public static Set<String> keysWith(String... keys) {
    Set<String> all = new LinkedHashSet<>(Arrays.asList(keys));
    all.addAll(Set.of(RETRIES, BACKOFF, TIMEOUT));
    return Set.copyOf(all);
  }

  /**
   * Reads the policy from a node's data.
   *
   * @throws InvalidGraphException if one of the three keys is invalid; the message names it
   */
  public static RunPolicy of(Map<String, JsonNode> data) {
    Inputs inputs = new Inputs(data);
    Optional<Long> backoff = inputs.millis(BACKOFF, 0, DAY_MILLIS);
    Optional<Long> timeout = inputs.millis(TIMEOUT, 1, YEAR_MILLIS);
    return new RunPolicy(
        inputs.number(RETRIES, 0, MAX_RETRIES, DEFAULT.retries),
        backoff.map(Duration::ofMillis).orElse(DEFAULT.backoff),
        timeout.map(Duration::ofMillis).orElse(null));
  }

  /**
   * When the next attempt may begin, in milliseconds since 1970; empty if there is none.
   *
   * @param failed the attempt that has failed, from 1
   */
  public OptionalLong again(int failed, long nowMillis) {
    if (failed > retries) {
      return OptionalLong.empty();
    }
    long longest = Math.max(LONGEST_BACKOFF.toMillis(), backoff.toMillis());
    // Far beyond the longest pause, and far from an overflow.
    int doubled = Math.min(failed - 1, 30);
    return OptionalLong.of(nowMillis + Math.min(backoff.toMillis() << doubled, longest));
  }

  /** The timeout in seconds for people; for a policy that has one. */
  public String timeoutText() {
    return Inputs.seconds(timeout == null ? 0 : timeout.toMillis()) + " s";
  }
}
