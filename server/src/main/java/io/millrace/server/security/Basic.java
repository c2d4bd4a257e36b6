package io.millrace.server.security;

import io.millrace.server.http.HttpProblem;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * HTTP Basic authentication on {@code /dci}, as clients of Disbatch know it: any user name, the
 * server's token as the password, and the realm {@code disbatch}.
 */
final class Basic {
  private static final String SCHEME = "basic ";
  private static final String ROOT = "/dci";

  private Basic() {}

  /** Whether requests for this path may use it. */
  static boolean isFor(String path) {
    return path.equals(ROOT) || path.startsWith(ROOT + "/");
  }

  /**
   * Checks the password.
   *
   * @throws HttpProblem of status 401, which asks for one, where it is absent or another
   */
  static void check(Token token, @Nullable String authorization) {
    String password = password(authorization);
    if (password == null || !token.is(password)) {
      throw new HttpProblem(
              401,
              password == null
                  ? "this server wants its token: Authorization: Bearer TOKEN, or Basic with any"
                      + " user name and the token as the password"
                  : "the password is not the token of this server")
          .withHeader("WWW-Authenticate", "Basic realm=\"disbatch\"");
    }
  }

  /** What follows the first colon of the decoded credentials; null where there are none. */
  private static @Nullable String password(@Nullable String authorization) {
    if (authorization == null
        || !authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
      return null;
    }
    try {
      byte[] decoded = Base64.getDecoder().decode(authorization.substring(SCHEME.length()).strip());
      String pair = new String(decoded, StandardCharsets.UTF_8);
      int colon = pair.indexOf(':');
      return colon < 0 ? null : pair.substring(colon + 1);
    } catch (IllegalArgumentException _) {
      return null;
    }
  }
}
