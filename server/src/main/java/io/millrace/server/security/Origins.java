package io.millrace.server.security;

import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The origins under which a proxy publishes the server, each with scheme, host and port, which is
 * left out if it is the scheme's own. Immutable.
 *
 * @param origins in lower case
 */
public record Origins(Set<String> origins) {
  /** None. */
  public static final Origins NONE = new Origins(Set.of());

  private static final Pattern FORM = Pattern.compile("https?://[^/@?#\\s,]+");

  /** Of these. */
  public Origins {
    origins = Set.copyOf(origins);
  }

  /**
   * Reads origins that are separated by commas.
   *
   * @throws IllegalArgumentException if one of them is none
   */
  public static Origins read(String text) {
    if (text.isBlank()) {
      return NONE;
    }
    return new Origins(
        Arrays.stream(text.split(",", -1))
            .map(each -> canonical(each.strip()))
            .peek(Origins::check)
            .collect(Collectors.toSet()));
  }

  private static void check(String origin) {
    if (!FORM.matcher(origin).matches()) {
      throw new IllegalArgumentException("not an origin: " + origin);
    }
  }

  /** In lower case, without the port that the scheme has anyway. */
  static String canonical(String origin) {
    String lower = origin.toLowerCase(Locale.ROOT);
    String port = lower.startsWith("http://") ? ":80" : lower.startsWith("https://") ? ":443" : "/";
    return lower.endsWith(port) ? lower.substring(0, lower.length() - port.length()) : lower;
  }

  boolean contains(String origin) {
    return origins.contains(canonical(origin));
  }

  /** Whether one of them has this host, with its port if that is not the scheme's own. */
  boolean hasHost(String host) {
    return contains("http://" + host) || contains("https://" + host);
  }
}
