package io.millrace.server.security;

import org.jspecify.annotations.Nullable;

/**
 * What stands between browsers and a server.
 *
 * @param origins under which proxies publish the server
 * @param proxies whose word counts about the addresses of clients
 * @param identity the headers in which a proxy names people who have signed in; null for none
 */
public record ProxySettings(Origins origins, Proxies proxies, @Nullable IdentityHeader identity) {
  /** Nothing. */
  public static final ProxySettings NONE = new ProxySettings(Origins.NONE, Proxies.NONE, null);
}
