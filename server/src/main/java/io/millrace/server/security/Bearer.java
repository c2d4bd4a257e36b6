package io.millrace.server.security;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The token in the header {@code Authorization: Bearer TOKEN}. */
public final class Bearer {
  private static final String SCHEME = "bearer ";

  private Bearer() {}

  /**
   * The token that a header holds.
   *
   * @param authorization the header; null if there is none
   * @return empty if it holds none
   */
  public static Optional<String> in(@Nullable String authorization) {
    if (authorization == null
        || authorization.length() <= SCHEME.length()
        || !authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
      return Optional.empty();
    }
    return Optional.of(authorization.substring(SCHEME.length()).strip());
  }
}
