package io.millrace.server.security;

import io.millrace.access.AccessKey;
import io.millrace.http.AccessCheck;
import io.millrace.http.Caller;
import io.millrace.http.Route;
import io.millrace.http.message.Head;
import io.millrace.http.message.Headers;
import io.millrace.http.message.HttpProblem;
import io.millrace.server.ServerException;
import io.millrace.server.security.Principals.Finding;
import io.millrace.server.security.SessionCookies.Kind;
import java.net.InetAddress;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The rules of access. On loopback only requests to a loopback name are served. A page in a browser
 * may use the server only if its whole origin, scheme, host and port, is the one that the request
 * addresses, or one under which a proxy publishes the server. Callers show the server's token, the
 * credentials of a principal, or the cookie of a session, or a proxy names them. On loopback,
 * unless credentials are required, a caller that shows none is {@link Caller#LOCAL}.
 */
public final class Access implements AccessCheck {
  private static final Set<String> LOOPBACK_NAMES = Set.of("localhost", "127.0.0.1", "[::1]");

  private final @Nullable Token token;
  private final @Nullable Principals principals;
  private final boolean required;
  private final ProxySettings front;
  private final SessionCookies cookies;
  private final SignInPace pace;
  private final boolean loopback;
  private final String ownName;

  private Access(
      InetAddress address,
      @Nullable Token token,
      @Nullable Principals principals,
      boolean required,
      ProxySettings front,
      LongSupplier nanos) {
    this.token = token;
    this.principals = principals;
    this.required = required;
    this.front = front;
    this.cookies = new SessionCookies(front.origins(), front.proxies());
    this.pace = new SignInPace(nanos);
    this.loopback = address.isLoopbackAddress();
    this.ownName = address.getHostAddress();
  }

  /**
   * The rules for a listen address, with principals.
   *
   * @param token opens everything; null for none
   * @param required whether every caller needs credentials; otherwise one without is {@link
   *     Caller#LOCAL}
   * @param front what stands between browsers and the server
   */
  public static Access to(
      InetAddress address,
      @Nullable Token token,
      Principals principals,
      boolean required,
      ProxySettings front) {
    return new Access(address, token, principals, required, front, System::nanoTime);
  }

  /**
   * The rules for a listen address of a server that does not lead its store and so knows no
   * principals: whoever asks for what is open to all is {@link Caller#UNKNOWN}, whatever the
   * credentials, and keys of principals are refused with 503 elsewhere.
   */
  public static AccessCheck ofStandby(
      InetAddress address, @Nullable Token token, boolean required, ProxySettings front) {
    Access access = new Access(address, token, null, required, front, System::nanoTime);
    return new AccessCheck() {
      @Override
      public @Nullable Caller check(Attempt attempt) {
        return access.checkAtStandby(attempt);
      }

      @Override
      public Source sourceOf(InetAddress peer, Head head) {
        return access.sourceOf(peer, head);
      }
    };
  }

  /**
   * The rules for a listen address, without principals.
   *
   * @param token what clients must present; null for no authentication
   * @param origins under which a proxy publishes the server
   * @throws ServerException for an address other than loopback without a token
   */
  public static Access to(InetAddress address, @Nullable Token token, Origins origins) {
    return to(address, token, origins, Proxies.NONE, System::nanoTime);
  }

  static Access to(
      InetAddress address,
      @Nullable Token token,
      Origins origins,
      Proxies proxies,
      LongSupplier nanos) {
    if (!address.isLoopbackAddress() && token == null) {
      throw new ServerException(
          "server.address is "
              + address.getHostAddress()
              + ": whoever reaches this server can run programs, so an address other than 127.0.0.1"
              + " or ::1 needs server.token-file");
    }
    return new Access(
        address,
        token,
        null,
        token != null,
        new ProxySettings(origins, proxies, null, null),
        nanos);
  }

  @Override
  public Source sourceOf(InetAddress peer, Head head) {
    Source direct = new Source(peer, front.proxies().clientOf(peer, head), null);
    RelaySignatures relays = front.relays();
    return relays == null ? direct : relays.source(direct, head);
  }

  @Override
  public void checkPace(InetAddress client) {
    pace.check(client, null);
  }

  @Override
  public void wrongSecret(InetAddress client, String secret) {
    pace.failed(client, secret);
  }

  @Override
  public @Nullable Caller check(Attempt attempt) {
    Route route = attempt.route();
    Headers headers = attempt.headers();
    String origin = headers.only(Headers.ORIGIN);
    String authorization = headers.only(Headers.AUTHORIZATION);
    checkPage(attempt, origin);
    boolean shown = authorization != null || route.credentials().isShown(headers);
    try {
      // A proxy that may not name people is refused whatever else it shows.
      Caller named = byProxy(attempt);
      return shown ? byCredentials(attempt, authorization) : withoutCredentials(attempt, named);
    } catch (HttpProblem problem) {
      if (problem.isOfWrongCredentials()) {
        pace.failed(attempt.source().client(), authorization, headers);
      }
      throw answer(problem, attempt);
    }
  }

  private @Nullable Caller checkAtStandby(Attempt attempt) {
    if (attempt.route().role() == Caller.Role.ANYONE) {
      checkPage(attempt, attempt.headers().only(Headers.ORIGIN));
      return Caller.UNKNOWN;
    }
    Optional<String> shown = Token.bearer(attempt.headers().only(Headers.AUTHORIZATION));
    if (shown.filter(key -> AccessKey.prefixOf(key) != null).isPresent()) {
      throw HttpProblem.unavailable(
          "this server is a standby and does not know the keys of principals", 1);
    }
    return check(attempt);
  }

  /**
   * The refusal as it is sent. A page that asks for something itself gets no challenge, since the
   * browser would ask for a password in a window of its own.
   */
  private static HttpProblem answer(HttpProblem problem, Attempt attempt) {
    String mode = attempt.headers().only("Sec-Fetch-Mode");
    HttpProblem sent =
        mode == null || mode.equals("navigate")
            ? problem
            : problem.withoutHeader("WWW-Authenticate");
    return sent.form() == null ? sent.withForm(attempt.route().errors()) : sent;
  }

  private @Nullable Caller byProxy(Attempt attempt) {
    if (principals == null) {
      return null;
    }
    Person person = front.person(attempt);
    return person == null ? null : IdentityHeader.caller(person, attempt, principals.directory());
  }

  /**
   * The caller without credentials of its own.
   *
   * @param named whom a proxy names; null for nobody
   */
  private Caller withoutCredentials(Attempt attempt, @Nullable Caller named) {
    String session = principals == null ? null : cookies.value(Kind.SESSION, attempt);
    Caller signedIn = session == null || principals == null ? null : principals.bySession(session);
    if (session != null && signedIn != null) {
      SessionCookies.check(attempt, session);
      return signedIn;
    }
    if (named != null) {
      return named;
    }
    Route route = attempt.route();
    Caller caller = route.callerBy(attempt.headers());
    if (caller != null) {
      return caller;
    }
    if (required && session != null && route.role() != Caller.Role.ANYONE) {
      throw new HttpProblem(401, "this session has ended; sign in again");
    }
    return required ? byToken(route, null) : Caller.LOCAL;
  }

  private @Nullable Caller byCredentials(Attempt attempt, @Nullable String authorization) {
    Route route = attempt.route();
    Headers headers = attempt.headers();
    // Random keys cannot be guessed, so they count even at an address where somebody guesses.
    Caller caller =
        authorization == null || principals == null ? null : principals.byKey(authorization, token);
    if (caller == null && !route.credentials().isGuessable()) {
      caller = route.callerBy(headers);
    }
    if (caller != null) {
      return caller;
    }
    pace.check(attempt.source().client(), authorization);
    return switch (byPassword(authorization, attempt.mayBlock())) {
      case Finding.Known(Caller known) -> {
        pace.succeeded(authorization);
        yield known;
      }
      case Finding.Unchecked() -> null;
      case Finding.Wrong() -> byRoute(route, headers);
      case Finding.Nothing() -> {
        caller = route.callerBy(headers);
        if (caller == null) {
          caller = required ? byToken(route, authorization) : Caller.LOCAL;
        }
        if (caller.equals(Caller.UNKNOWN)) {
          // The route is open to all, but its response tells whether the credentials are right.
          pace.failed(attempt.source().client(), authorization, headers);
        }
        yield caller;
      }
    };
  }

  private void checkPage(Attempt attempt, @Nullable String origin) {
    String host = attempt.host();
    if (loopback && !isOwn(nameOf(host)) && !front.origins().hasHost(host)) {
      throw new HttpProblem(
          403, "this server answers to localhost, 127.0.0.1 and [::1], not to Host " + host);
    }
    if (origin != null && !allows(origin, (attempt.secure() ? "https://" : "http://") + host)) {
      throw new HttpProblem(403, "pages of origin " + origin + " may not use this server");
    }
  }

  private Finding byPassword(@Nullable String authorization, boolean mayBlock) {
    return authorization == null || principals == null
        ? new Finding.Nothing()
        : principals.byPassword(authorization, token, required, mayBlock);
  }

  /** The caller with other credentials than a name and a password, which are wrong. */
  private static Caller byRoute(Route route, Headers headers) {
    Caller caller;
    try {
      caller = route.callerBy(headers);
    } catch (HttpProblem _) {
      caller = null;
    }
    if (caller != null) {
      return caller;
    }
    String challenge = route.credentials().absent().headers().get("WWW-Authenticate");
    throw new HttpProblem(401, "the user name or the password is wrong")
        .withHeader(
            "WWW-Authenticate",
            challenge != null && challenge.startsWith("Basic")
                ? challenge
                : "Basic realm=\"millrace\", charset=\"UTF-8\"")
        .ofWrongCredentials();
  }

  private Caller byToken(Route route, @Nullable String authorization) {
    Optional<String> offered = Token.bearer(authorization);
    if (token != null && offered.filter(token::is).isPresent()) {
      return Caller.OWNER;
    }
    if (route.role() == Caller.Role.ANYONE) {
      return Caller.UNKNOWN;
    }
    throw offered.isEmpty()
        ? route.credentials().absent()
        : new HttpProblem(403, "the token is not one of this server").ofWrongCredentials();
  }

  /** Whether pages of this origin may use the server; the origin "null" is that of no page. */
  private boolean allows(String origin, String own) {
    return Origins.canonical(origin).equals(Origins.canonical(own))
        || front.origins().contains(origin);
  }

  private boolean isOwn(String name) {
    return LOOPBACK_NAMES.contains(name)
        || LOOPBACK_NAMES.contains(name.toLowerCase(Locale.ROOT))
        || name.equals(ownName);
  }

  /** The host of a host and port. */
  private static String nameOf(String host) {
    int end = host.startsWith("[") ? host.indexOf(']') + 1 : host.indexOf(':');
    return end <= 0 ? host : host.substring(0, end);
  }
}
