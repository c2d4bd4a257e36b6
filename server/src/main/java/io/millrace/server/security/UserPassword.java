package io.millrace.server.security;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * The credentials of HTTP Basic.
 *
 * @param user what stands before the first colon
 * @param password what stands after it
 */
record UserPassword(String user, String password) {
  private static final String SCHEME = "basic ";

  /** Whether a header {@code Authorization} is one of HTTP Basic. */
  static boolean isBasic(String authorization) {
    return authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length());
  }

  /** Reads a header {@code Authorization} of HTTP Basic; null if it is malformed. */
  static @Nullable UserPassword read(String authorization) {
    try {
      byte[] decoded = Base64.getDecoder().decode(authorization.substring(SCHEME.length()).strip());
      String pair = new String(decoded, StandardCharsets.UTF_8);
      int colon = pair.indexOf(':');
      return colon < 0
          ? null
          : new UserPassword(pair.substring(0, colon), pair.substring(colon + 1));
    } catch (IllegalArgumentException _) {
      return null;
    }
  }

  @Override
  public String toString() {
    return "(the password of " + user + ")";
  }
}
