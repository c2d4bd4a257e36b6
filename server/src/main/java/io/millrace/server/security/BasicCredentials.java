package io.millrace.server.security;

import io.millrace.http.AccessCheck.Credentials;
import io.millrace.http.Caller;
import io.millrace.http.message.Headers;
import io.millrace.http.message.HttpProblem;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * HTTP Basic authentication as clients of Disbatch know it: any user name, the server's token as
 * the password, and the realm {@code disbatch}.
 *
 * @param token the server's; null for none
 */
public record BasicCredentials(@Nullable Token token) implements Credentials {
  private static final String SCHEME = "basic ";

  @Override
  public @Nullable Caller caller(Headers headers) {
    String authorization = token == null ? null : headers.only(Headers.AUTHORIZATION);
    if (authorization == null
        || token == null
        || !authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
      return null;
    }
    String password = password(authorization);
    if (password == null) {
      throw absent();
    }
    if (!token.is(password)) {
      throw challenge("the password is not the token of this server");
    }
    return Caller.OWNER;
  }

  @Override
  public HttpProblem absent() {
    return challenge(
        "this server requires its token: Authorization: Bearer TOKEN, or Basic with any user name"
            + " and the token as the password");
  }

  private static HttpProblem challenge(String message) {
    return new HttpProblem(401, message).withHeader("WWW-Authenticate", "Basic realm=\"disbatch\"");
  }

  /** What follows the first colon of the decoded credentials; null if they hold none. */
  private static @Nullable String password(String authorization) {
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
