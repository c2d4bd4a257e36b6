package io.millrace.server.security;

import io.millrace.http.AccessCheck.Person;
import io.millrace.http.AccessCheck.Source;
import io.millrace.http.message.Head;
import io.millrace.http.message.HttpProblem;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Base64;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.random.RandomGenerator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * By which servers that share a store believe each other for whom they pass a request on: a header
 * with the address of the client, and whom a proxy has signed in there, that is signed with the
 * token of all of them. A signature holds for one method and one target, for {@link #VALID}, and
 * once if it names somebody. Whoever knows the token may do everything anyway, so nobody gains
 * anything by signing. Thread-safe.
 */
public final class RelaySignatures {
  /** The header with what the server says, and its signature. */
  public static final String HEADER = "Millrace-Relayed-For";

  /** For how long a signature holds, and by how much the clocks of two servers may differ. */
  static final Duration VALID = Duration.ofSeconds(30);

  /** How many signatures are remembered, so that none holds twice. */
  static final int MOST_REMEMBERED = 100_000;

  private static final String ALGORITHM = "HmacSHA256";
  private static final int NONCE_BYTES = 16;

  /** Time in milliseconds, nonce, address of the client, name, groups, signature. */
  private static final Pattern FORM =
      Pattern.compile(
          "(?<said>(?<time>[0-9]{1,15})\\.[\\w-]{22}\\.(?<client>[\\w-]{6}|[\\w-]{22})"
              + "\\.(?<name>[\\w-]*)\\.(?<groups>[\\w-]*))\\.(?<code>[\\w-]{43})");

  private final SecretKeySpec key;
  private final InstantSource clock;
  private final RandomGenerator random;

  /** Slows down who guesses the secret; null if nobody could. */
  private final @Nullable SignInPace pace;

  /** The signatures that named somebody, and until when they are remembered, the oldest first. */
  private final Map<String, Long> shown = new LinkedHashMap<>();

  /**
   * Signatures by a secret.
   *
   * @param random unpredictable; may be used by any thread
   * @param pace for wrong signatures; null if the secret is random
   */
  RelaySignatures(
      String secret, InstantSource clock, RandomGenerator random, @Nullable SignInPace pace) {
    this.key = new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), ALGORITHM);
    this.clock = clock;
    this.random = random;
    this.pace = pace;
  }

  /**
   * Signatures of a server.
   *
   * @param token that of all servers of the store; null for none, and then the server believes only
   *     itself
   * @param localKey that of this process, see {@link Principals#newLocalKey}
   */
  public static RelaySignatures of(@Nullable String token, String localKey) {
    return new RelaySignatures(
        token == null ? localKey : token,
        InstantSource.system(),
        new SecureRandom(),
        token == null ? null : new SignInPace(System::nanoTime));
  }

  /**
   * The value of the header.
   *
   * @param target path and query at the server that gets the request
   * @param client the address of the client
   * @param person whom a proxy has signed in; null for nobody
   */
  public String sign(String method, String target, InetAddress client, @Nullable Person person) {
    byte[] nonce = new byte[NONCE_BYTES];
    random.nextBytes(nonce);
    String said =
        "%d.%s.%s.%s.%s"
            .formatted(
                clock.millis(),
                text(nonce),
                text(client.getAddress()),
                person == null ? "" : text(person.name()),
                person == null ? "" : text(person.groups()));
    return said + "." + code(method, target, said);
  }

  /**
   * Where a request comes from, as the server says that passes it on. If it names nobody, a
   * signature that does not hold means nothing.
   *
   * @param direct where it comes from if no server says anything
   * @throws HttpProblem if it names somebody: 403 if the signature does not hold, 429 if there were
   *     too many wrong ones from this address, 503 if too many are remembered
   */
  Source source(Source direct, Head head) {
    String header = head.only(HEADER);
    if (header == null) {
      return direct;
    }
    Matcher parts = FORM.matcher(header);
    boolean namesNobody = parts.matches() && parts.group("name").isEmpty();
    try {
      return checked(direct, head, header, parts);
    } catch (HttpProblem problem) {
      if (namesNobody) {
        return direct;
      }
      throw problem;
    }
  }

  private Source checked(Source direct, Head head, String header, Matcher parts) {
    if (pace != null) {
      pace.check(direct.client(), null);
    }
    String target = head.query() == null ? head.path() : head.path() + "?" + head.query();
    if (!parts.matches()
        || !isSame(parts.group("code"), code(head.method(), target, parts.group("said")))) {
      if (pace != null) {
        pace.failed(direct.client(), header);
      }
      throw new HttpProblem(
              403,
              ("the header %s is not signed with the server.token-file of this server, which has to"
                      + " be the same at all servers of a store")
                  .formatted(HEADER))
          .ofWrongCredentials();
    }
    long now = clock.millis();
    if (Math.abs(now - Long.parseLong(parts.group("time"))) > VALID.toMillis()) {
      throw new HttpProblem(
          403,
          "the signature in the header %s holds for %d s only; do the clocks of the servers agree?"
              .formatted(HEADER, VALID.toSeconds()));
    }
    InetAddress client = address(parts.group("client"));
    if (parts.group("name").isEmpty()) {
      return new Source(direct.peer(), client, null);
    }
    if (!isFirst(parts.group("code"), now)) {
      throw new HttpProblem(
          403, "the signature in the header %s was shown before".formatted(HEADER));
    }
    return new Source(
        direct.peer(),
        client,
        new Person(decoded(parts.group("name")), decoded(parts.group("groups"))));
  }

  private synchronized boolean isFirst(String signature, long now) {
    Iterator<Long> oldest = shown.values().iterator();
    while (oldest.hasNext() && oldest.next() < now) {
      oldest.remove();
    }
    if (shown.size() >= MOST_REMEMBERED) {
      throw HttpProblem.unavailable("too many requests are passed on to this server", 1);
    }
    return shown.putIfAbsent(signature, now + 2 * VALID.toMillis()) == null;
  }

  private String code(String method, String target, String said) {
    // An empty query is not sent.
    String sent = target.endsWith("?") ? target.substring(0, target.length() - 1) : target;
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      String signed = String.join("\n", "relayed request", method, sent, said);
      return text(mac.doFinal(signed.getBytes(StandardCharsets.UTF_8)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this JDK has no " + ALGORITHM, e);
    }
  }

  private static boolean isSame(String one, String other) {
    return MessageDigest.isEqual(
        one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
  }

  private static String text(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  private static String text(String text) {
    return text(text.getBytes(StandardCharsets.UTF_8));
  }

  private static String decoded(String text) {
    return new String(Base64.getUrlDecoder().decode(text), StandardCharsets.UTF_8);
  }

  private static InetAddress address(String text) {
    try {
      return InetAddress.getByAddress(Base64.getUrlDecoder().decode(text));
    } catch (UnknownHostException e) {
      throw new IllegalStateException("a server has signed what is no address", e);
    }
  }
}
