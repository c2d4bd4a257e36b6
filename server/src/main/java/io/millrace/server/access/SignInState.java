package io.millrace.server.access;

import io.millrace.http.message.HttpProblem;
import io.millrace.store.Sha256;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.random.RandomGenerator;

/**
 * What is kept during a sign-in at a provider of identities: nothing on the server, and a cookie in
 * the browser. The values that the provider gets are digests of the cookie, so that they belong to
 * this browser, and neither of them tells the others. Immutable.
 *
 * @param cookie the cookie: a secret, the time of the beginning, and where the browser goes
 *     afterwards
 */
record SignInState(String cookie) {
  /** How long a sign-in may take. */
  static final Duration LONGEST = Duration.ofMinutes(10);

  private static final int SECRET_BYTES = 32;
  private static final int LONGEST_RETURN = 1_000;
  private static final Base64.Encoder ENCODER = Base64.getUrlEncoder().withoutPadding();

  /**
   * Begins a sign-in.
   *
   * @param path where the browser goes afterwards: a path below the server, which may have a query
   *     and a fragment
   * @throws HttpProblem 400 if it leads elsewhere or is too long
   */
  static SignInState begin(String path, RandomGenerator random, Instant now) {
    byte[] secret = new byte[SECRET_BYTES];
    synchronized (random) {
      random.nextBytes(secret);
    }
    return new SignInState(
        "%s.%d.%s"
            .formatted(
                ENCODER.encodeToString(secret),
                now.getEpochSecond(),
                ENCODER.encodeToString(checked(path).getBytes(StandardCharsets.UTF_8))));
  }

  private static String checked(String path) {
    if (path.length() > LONGEST_RETURN) {
      throw HttpProblem.malformed("return has at most " + LONGEST_RETURN + " characters");
    }
    // A browser reads a backslash as a slash, and two slashes as the beginning of a host.
    if (!path.startsWith("/")
        || path.startsWith("//")
        || !path.chars().allMatch(letter -> letter > ' ' && letter < 0x7f && letter != '\\')) {
      throw HttpProblem.malformed(
          "return must be a path of this server that begins with one slash, in visible ASCII"
              + " characters");
    }
    return path;
  }

  /** What the provider sends back with the code. */
  String state() {
    return digest("state");
  }

  /** What the ID token has to hold. */
  String nonce() {
    return digest("nonce");
  }

  /** What the server shows with the code; the provider has got its digest before (PKCE). */
  String verifier() {
    return digest("verifier");
  }

  private String digest(String purpose) {
    return ENCODER.encodeToString(
        Sha256.begin().digest((purpose + " " + cookie).getBytes(StandardCharsets.UTF_8)));
  }

  /**
   * Where the browser goes afterwards.
   *
   * @throws HttpProblem 400 if the cookie is malformed, or the sign-in has taken too long
   */
  String path(Instant now) {
    String[] parts = cookie.split("\\.", -1);
    try {
      Instant begun = Instant.ofEpochSecond(Long.parseLong(parts[1]));
      if (now.isAfter(begun.plus(LONGEST))) {
        throw HttpProblem.malformed(
            "the sign-in has taken more than %d minutes; begin again"
                .formatted(LONGEST.toMinutes()));
      }
      return checked(new String(Base64.getUrlDecoder().decode(parts[2]), StandardCharsets.UTF_8));
    } catch (IllegalArgumentException
        | ArithmeticException
        | ArrayIndexOutOfBoundsException
        | java.time.DateTimeException _) {
      throw HttpProblem.malformed("the cookie of the sign-in is malformed; begin again");
    }
  }
}
