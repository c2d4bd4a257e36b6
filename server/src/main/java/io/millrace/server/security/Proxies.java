package io.millrace.server.security;

import io.millrace.http.message.Headers;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The proxies whose header {@code X-Forwarded-For} is believed. Each proxy appends the address of
 * its client, so the client is the last one that is not a proxy. Immutable.
 *
 * @param addresses of the proxies
 */
public record Proxies(Set<InetAddress> addresses) {
  /** None: the client is at the other end of the connection. */
  public static final Proxies NONE = new Proxies(Set.of());

  private static final String FORWARDED = "X-Forwarded-For";
  private static final String SCHEME = "X-Forwarded-Proto";

  /** Of these. */
  public Proxies {
    addresses = Set.copyOf(addresses);
  }

  /**
   * Reads addresses that are separated by commas.
   *
   * @throws IllegalArgumentException if one of them is no IP address
   */
  public static Proxies read(String text) {
    return text.isBlank()
        ? NONE
        : new Proxies(
            Arrays.stream(text.split(",", -1))
                .map(each -> InetAddress.ofLiteral(each.strip()))
                .collect(Collectors.toSet()));
  }

  /** Whether a proxy says that its client uses HTTPS. */
  boolean isSecure(InetAddress peer, Headers headers) {
    return addresses.contains(peer) && "https".equalsIgnoreCase(headers.last(SCHEME));
  }

  /**
   * The address of a client.
   *
   * @param peer the other end of the connection
   */
  public InetAddress clientOf(InetAddress peer, Headers headers) {
    if (!addresses.contains(peer)) {
      return peer;
    }
    String header = headers.last(FORWARDED);
    if (header == null) {
      return peer;
    }
    String[] forwarded = header.split(",", -1);
    InetAddress client = peer;
    for (int i = forwarded.length - 1; i >= 0 && addresses.contains(client); i--) {
      try {
        client = InetAddress.ofLiteral(forwarded[i].strip());
      } catch (IllegalArgumentException _) {
        // A proxy writes addresses; what comes before is the client's own invention.
        return client;
      }
    }
    return client;
  }
}
