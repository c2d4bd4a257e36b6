package io.millrace.server.security;

import io.millrace.access.AccessKey;
import io.millrace.access.Principal;
import org.jspecify.annotations.Nullable;

/**
 * What a caller claims to be whose credentials are wrong or not checked.
 *
 * @param name the name of a principal in HTTP Basic; null for none
 * @param key the prefix of a key; null for none
 */
public record ClaimedIdentity(@Nullable String name, @Nullable String key) {
  private static final ClaimedIdentity NOTHING = new ClaimedIdentity(null, null);

  /** What a header {@code Authorization} claims; null for no header. */
  public static ClaimedIdentity of(@Nullable String authorization) {
    if (authorization == null) {
      return NOTHING;
    }
    String bearer = Token.bearer(authorization).orElse(null);
    if (bearer != null) {
      return new ClaimedIdentity(null, AccessKey.prefixOf(bearer));
    }
    UserPassword pair =
        UserPassword.isBasic(authorization) ? UserPassword.read(authorization) : null;
    if (pair == null) {
      return NOTHING;
    }
    String key = AccessKey.prefixOf(pair.password());
    return new ClaimedIdentity(
        key == null && Principal.isName(pair.user()) ? pair.user() : null, key);
  }
}
