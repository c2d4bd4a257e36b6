package io.millrace.server.security;

import io.millrace.http.AccessCheck.Attempt;
import io.millrace.http.AccessCheck.Person;
import io.millrace.http.message.HttpProblem;
import org.jspecify.annotations.Nullable;

/**
 * What stands between clients and a server: proxies, and other servers that pass requests on.
 *
 * @param origins under which proxies publish the server
 * @param proxies whose word counts about the addresses of clients
 * @param identity the headers in which a proxy names people who have signed in; null for none
 * @param relays by which servers of a store believe each other; null if this one believes nobody
 */
public record ProxySettings(
    Origins origins,
    Proxies proxies,
    @Nullable IdentityHeader identity,
    @Nullable RelaySignatures relays) {
  /** Nothing. */
  public static final ProxySettings NONE =
      new ProxySettings(Origins.NONE, Proxies.NONE, null, null);

  /**
   * Whom a proxy has signed in: the one in front of this server, or of another one that passes the
   * request on.
   *
   * @return null for nobody
   * @throws HttpProblem 403 if something else than a proxy names somebody
   */
  public @Nullable Person person(Attempt attempt) {
    Person named = attempt.source().person();
    return named != null ? named : identity == null ? null : identity.person(attempt);
  }
}
