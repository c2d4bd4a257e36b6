package io.millrace.server.security;

import io.millrace.http.AccessCheck.Credentials;
import io.millrace.http.Caller;
import io.millrace.http.message.Headers;
import io.millrace.http.message.HttpProblem;
import org.jspecify.annotations.Nullable;

/**
 * HTTP Basic authentication as clients of Disbatch know it: any user name, the server's token as
 * the password, and the realm {@code disbatch}.
 *
 * @param token the server's; null for none
 */
public record BasicCredentials(@Nullable Token token) implements Credentials {

  @Override
  public @Nullable Caller caller(Headers headers) {
    String authorization = token == null ? null : headers.only(Headers.AUTHORIZATION);
    if (authorization == null || token == null || !UserPassword.isBasic(authorization)) {
      return null;
    }
    UserPassword pair = UserPassword.read(authorization);
    if (pair == null) {
      throw absent();
    }
    if (!token.is(pair.password())) {
      throw challenge("the password is not the token of this server").ofWrongCredentials();
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
}
