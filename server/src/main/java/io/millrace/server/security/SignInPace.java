package io.millrace.server.security;

import io.millrace.http.message.Headers;
import io.millrace.http.message.HttpProblem;
import io.millrace.store.Sha256;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Slows down who guesses credentials: per address, for IPv6 per network of 64 bits, and per name
 * that is given with a password. Names have to wait less, since anybody can fail in the name of
 * others. Safe for use by threads.
 */
final class SignInPace {
  /** How many failures have no consequence. */
  static final int FREE = 10;

  /** How long an address waits at most. */
  static final Duration LONGEST_OF_ADDRESS = Duration.ofMinutes(5);

  /** How long a name waits at most. */
  static final Duration LONGEST_OF_NAME = Duration.ofSeconds(30);

  private static final List<String> SECRETS =
      List.of(Headers.AUTHORIZATION, "X-API-KEY", "X-WORKER-TOKEN");

  private final FailedAttempts<Object> addresses = new FailedAttempts<>(FREE, LONGEST_OF_ADDRESS);
  private final FailedAttempts<String> names = new FailedAttempts<>(FREE, LONGEST_OF_NAME);
  private final LongSupplier nanos;

  /** Whether there ever was a failure; otherwise nothing has to be looked up. */
  private volatile boolean failed;

  /** By a monotonic clock. */
  SignInPace(LongSupplier nanos) {
    this.nanos = nanos;
  }

  private long nowMillis() {
    return TimeUnit.NANOSECONDS.toMillis(nanos.getAsLong());
  }

  /**
   * Checks whether credentials may be checked.
   *
   * @param authorization the header of this name; null for none
   * @throws HttpProblem 429 if there were too many wrong ones
   */
  void check(InetAddress client, @Nullable String authorization) {
    if (!failed) {
      return;
    }
    long now = nowMillis();
    String name = ClaimedIdentity.of(authorization).name();
    long wait =
        Math.max(
            addresses.waitMillis(source(client), now),
            name == null ? 0 : names.waitMillis(name, now));
    if (wait > 0) {
      long seconds = (wait + 999) / 1000;
      throw new HttpProblem(
              429,
              "too many failed attempts; credentials are checked again in %d s".formatted(seconds))
          .withHeader("Retry-After", Long.toString(seconds));
    }
  }

  /** Counts wrong credentials. */
  void failed(InetAddress client, @Nullable String authorization, Headers headers) {
    long now = nowMillis();
    long guess = digest(SECRETS.stream().map(headers::only).toList());
    failed(client, guess, now);
    String name = ClaimedIdentity.of(authorization).name();
    if (name != null) {
      names.failed(name, guess, now);
    }
  }

  /** Counts a wrong secret that came in the content of a request. */
  void failed(InetAddress client, String secret) {
    failed(client, digest(List.of(secret)), nowMillis());
  }

  private void failed(InetAddress client, long guess, long now) {
    failed = true;
    addresses.failed(source(client), guess, now);
  }

  /** Forgets the failures in the name of who has signed in. */
  void succeeded(@Nullable String authorization) {
    String name = failed ? ClaimedIdentity.of(authorization).name() : null;
    if (name != null) {
      names.succeeded(name);
    }
  }

  private static long digest(List<? extends @Nullable String> secrets) {
    MessageDigest digest = Sha256.begin();
    for (String text : secrets) {
      digest.update((text == null ? "" : text).getBytes(StandardCharsets.UTF_8));
      digest.update((byte) 0);
    }
    return ByteBuffer.wrap(digest.digest()).getLong();
  }

  private static Object source(InetAddress client) {
    return client instanceof Inet6Address ? ByteBuffer.wrap(client.getAddress()).getLong() : client;
  }
}
