package io.millrace.server.security;

import io.millrace.access.AccessDirectory;
import io.millrace.access.GroupRoles;
import io.millrace.access.Principal;
import io.millrace.http.AccessCheck.Attempt;
import io.millrace.http.AccessCheck.Person;
import io.millrace.http.Caller;
import io.millrace.http.message.Headers;
import io.millrace.http.message.HttpProblem;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The headers in which a proxy that signs people in says who they are. They count only if the proxy
 * itself is at the other end of the connection; from anywhere else a request with one of them is
 * refused. Immutable.
 *
 * @param user the name of the header with the name of the person
 * @param groups the name of the header with the groups of the person, separated by commas; null for
 *     none
 * @param networks the addresses of such proxies
 */
public record IdentityHeader(String user, @Nullable String groups, List<Network> networks) {
  /** What the names of such people begin with, so that they are not those of principals. */
  private static final String PREFIX = "proxy";

  /** Copies the networks. */
  public IdentityHeader {
    networks = List.copyOf(networks);
  }

  /**
   * A range of addresses.
   *
   * @param base an address in it
   * @param bits how many of the first bits of an address have to be those of {@code base}
   */
  public record Network(InetAddress base, int bits) {
    /**
     * Reads ranges that are separated by commas, each an address or of the form {@code
     * ADDRESS/BITS}.
     *
     * @throws IllegalArgumentException if one of them is none
     */
    public static List<Network> read(String text) {
      return text.isBlank()
          ? List.of()
          : Arrays.stream(text.split(",", -1)).map(each -> of(each.strip())).toList();
    }

    private static Network of(String text) {
      int slash = text.indexOf('/');
      InetAddress base = InetAddress.ofLiteral(slash < 0 ? text : text.substring(0, slash));
      int most = base.getAddress().length * 8;
      int bits = slash < 0 ? most : Integer.parseInt(text.substring(slash + 1));
      if (bits < 0 || bits > most) {
        throw new IllegalArgumentException("not a network: " + text);
      }
      return new Network(base, bits);
    }

    boolean contains(InetAddress address) {
      byte[] own = base.getAddress();
      byte[] other = address.getAddress();
      if (own.length != other.length) {
        return false;
      }
      for (int bit = 0; bit < bits; bit++) {
        int mask = 0x80 >> (bit % 8);
        if ((own[bit / 8] & mask) != (other[bit / 8] & mask)) {
          return false;
        }
      }
      return true;
    }
  }

  /**
   * The person whom the proxy names.
   *
   * @return null if it names nobody
   * @throws HttpProblem 403 if something else than the proxy sends such a header
   */
  @Nullable Person person(Attempt attempt) {
    Headers headers = attempt.headers();
    String name = headers.only(user);
    String named = groups == null ? null : headers.only(groups);
    if (name == null && named == null) {
      return null;
    }
    if (networks.stream().noneMatch(network -> network.contains(attempt.source().peer()))) {
      throw new HttpProblem(
              403,
              "the header %s counts only from access.proxy-addresses, and this request comes from %s"
                  .formatted(
                      name == null ? groups : user, attempt.source().peer().getHostAddress()))
          .ofWrongCredentials();
    }
    return name == null ? null : new Person(name, named == null ? "" : named);
  }

  /**
   * A person whom a proxy has signed in, as a caller.
   *
   * @throws HttpProblem 403 if another page caused a change, or if the person has no roles
   */
  static Caller caller(Person person, Attempt attempt, AccessDirectory directory) {
    checkPage(attempt);
    String principal = Principal.nameOutside(PREFIX, person.name());
    GroupRoles.Entry roles =
        directory
            .rolesOf(read(person.groups()))
            .orElseThrow(() ->
                new HttpProblem(403, principal + " belongs to no group that access.roles names"));
    return Principals.outside(principal, roles);
  }

  /** Whether somebody is a caller because a proxy has signed them in. */
  public static boolean isOf(Caller caller) {
    return caller.principal().startsWith(PREFIX + ":");
  }

  private static Set<String> read(String groups) {
    return Arrays.stream(groups.split(",", -1))
        .map(String::strip)
        .filter(group -> !group.isEmpty())
        .collect(Collectors.toSet());
  }

  /** The proxy adds its headers to whatever a browser sends, also if another page caused that. */
  private static void checkPage(Attempt attempt) {
    String site = attempt.headers().only("Sec-Fetch-Site");
    if (site != null
        && !site.equals("same-origin")
        && !site.equals("none")
        && SessionCookies.mayChange(attempt)) {
      throw new HttpProblem(403, "pages of other origins may not change anything");
    }
  }
}
