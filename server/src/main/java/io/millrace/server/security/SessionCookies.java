package io.millrace.server.security;

import io.millrace.http.AccessCheck.Attempt;
import io.millrace.http.Caller;
import io.millrace.http.message.Headers;
import io.millrace.http.message.HttpMethod;
import io.millrace.http.message.HttpProblem;
import io.millrace.store.Sha256;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The cookies of browsers. If a browser reaches the server by HTTPS, directly or through a proxy,
 * their names begin with {@code __Host-}, which only the very host can set, and only then they
 * count. Every cookie is {@code HttpOnly} and {@code SameSite=Lax}: with {@code Strict}, a browser
 * would leave out the cookie of a sign-in when the provider of identities sends it back.
 *
 * <p>Since browsers add cookies to requests that other pages cause, a change that is made with a
 * session needs a second secret in a header, which is derived from the session and which only pages
 * of this server can read. Immutable.
 *
 * @param origins under which a proxy publishes the server
 * @param proxies whose word counts about how clients reach them
 */
public record SessionCookies(Origins origins, Proxies proxies) {
  /** The header with the second secret. */
  public static final String CSRF_HEADER = "X-CSRF-Token";

  private static final String SESSION = "millrace-session";
  private static final String SIGN_IN = "millrace-sign-in";
  private static final String OF_HOST = "__Host-";

  /** The cookies that the server sets. */
  public enum Kind {
    /** The session of somebody who has signed in. */
    SESSION(SessionCookies.SESSION),
    /** What is kept during a sign-in at a provider of identities. */
    SIGN_IN(SessionCookies.SIGN_IN);

    private final String text;

    Kind(String text) {
      this.text = text;
    }
  }

  /**
   * The header {@code Cookie} of a request as this server passes it on to another one of the same
   * store, which it may reach without HTTPS: what counts here counts there.
   */
  public static String passedOn(String header) {
    Map<String, String> cookies = new LinkedHashMap<>();
    for (String pair : header.split(";", -1)) {
      int equals = pair.indexOf('=');
      String name = pair.substring(0, Math.max(0, equals)).strip();
      if (!name.isEmpty()) {
        cookies.putIfAbsent(name, pair.substring(equals + 1).strip());
      }
    }
    for (Kind kind : Kind.values()) {
      String ofHost = cookies.get(OF_HOST + kind.text);
      if (ofHost != null) {
        cookies.put(kind.text, ofHost);
      }
    }
    return cookies.entrySet().stream()
        .map(cookie -> cookie.getKey() + "=" + cookie.getValue())
        .collect(Collectors.joining("; "));
  }

  /** The value of a cookie; null if the request has none. */
  public @Nullable String value(Kind kind, Attempt attempt) {
    String header = attempt.headers().only("Cookie");
    if (header == null) {
      return null;
    }
    String name = name(kind, attempt);
    for (String pair : header.split(";", -1)) {
      int equals = pair.indexOf('=');
      if (equals > 0 && pair.substring(0, equals).strip().equals(name)) {
        return pair.substring(equals + 1).strip();
      }
    }
    return null;
  }

  /**
   * The header {@code Set-Cookie} for a cookie.
   *
   * @param value of visible ASCII characters without comma, semicolon or backslash
   * @param age for how long the browser keeps it; zero to delete it
   */
  public String set(Kind kind, String value, Duration age, Attempt attempt) {
    return "%s=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Lax%s"
        .formatted(
            name(kind, attempt), value, age.toSeconds(), isSecure(attempt) ? "; Secure" : "");
  }

  private String name(Kind kind, Attempt attempt) {
    return isSecure(attempt) ? OF_HOST + kind.text : kind.text;
  }

  /** Whether the browser reaches the server by HTTPS. */
  public boolean isSecure(Attempt attempt) {
    return attempt.secure()
        || origins.contains("https://" + attempt.host())
        || proxies.isSecure(attempt.source().peer(), attempt.headers());
  }

  /** What a page has to show beside the session to change something. */
  public static String csrfToken(String session) {
    byte[] digest = Sha256.begin().digest(("csrf " + session).getBytes(StandardCharsets.UTF_8));
    return Base64.getUrlEncoder().withoutPadding().encodeToString(digest);
  }

  /**
   * Refuses a request with a session that another page may have caused.
   *
   * @throws HttpProblem 403 if it may change something and lacks the second secret, or is a
   *     WebSocket and lacks the origin of its page, which was checked before if there is one
   */
  static void check(Attempt attempt, String session) {
    Headers headers = attempt.headers();
    if (attempt.route().method() == HttpMethod.GET
        && Headers.asksForWebSocket(headers.only("Upgrade"))) {
      if (headers.only(Headers.ORIGIN) == null) {
        throw new HttpProblem(403, "a WebSocket with a session cookie needs the header Origin");
      }
      return;
    }
    if (!mayChange(attempt)) {
      return;
    }
    String token = headers.only(CSRF_HEADER);
    if (token == null || !isSame(token, csrfToken(session))) {
      throw new HttpProblem(
          403,
          "a change with a session cookie needs the header %s; GET /access/me tells its value"
              .formatted(CSRF_HEADER));
    }
  }

  /** Whether a request does more than read, with the rights of its caller. */
  static boolean mayChange(Attempt attempt) {
    return switch (attempt.route().method()) {
      case GET -> attempt.route().action() != null && attempt.route().role() != Caller.Role.ANYONE;
      default -> true;
    };
  }

  private static boolean isSame(String one, String other) {
    return MessageDigest.isEqual(
        one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
  }
}
