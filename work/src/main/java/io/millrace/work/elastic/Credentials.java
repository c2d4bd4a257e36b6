package io.millrace.work.elastic;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;

/**
 * Credentials for the header {@code Authorization}. Use them only over {@code https} or on the same
 * machine.
 */
public final class Credentials {
  /** The environment variable with the name of a user. */
  public static final String USER = "MILLRACE_ELASTICSEARCH_USER";

  /** The environment variable with that user's password. */
  public static final String PASSWORD = "MILLRACE_ELASTICSEARCH_PASSWORD";

  /** The environment variable with an API key, in the encoded form that the engine issues. */
  public static final String API_KEY = "MILLRACE_ELASTICSEARCH_API_KEY";

  private final String header;

  private Credentials(String header) {
    this.header = header;
  }

  /**
   * A user with a password.
   *
   * @throws IllegalArgumentException if the user contains a colon, or either a control character
   */
  public static Credentials user(String user, String password) {
    if (user.isEmpty() || user.indexOf(':') >= 0) {
      throw new IllegalArgumentException("a user needs a name without colons");
    }
    String both = user + ":" + password;
    if (both.chars().anyMatch(Character::isISOControl)) {
      throw new IllegalArgumentException("user and password must not contain control characters");
    }
    byte[] bytes = both.getBytes(StandardCharsets.UTF_8);
    return new Credentials("Basic " + Base64.getEncoder().encodeToString(bytes));
  }

  /**
   * An API key.
   *
   * @throws IllegalArgumentException if it is not printable ASCII without spaces
   */
  public static Credentials apiKey(String encoded) {
    if (encoded.isEmpty() || !encoded.chars().allMatch(c -> c > ' ' && c < 127)) {
      throw new IllegalArgumentException("an API key must be printable ASCII without spaces");
    }
    return new Credentials("ApiKey " + encoded);
  }

  /**
   * The credentials in the environment; empty for none. Empty variables count as not set.
   *
   * @throws IllegalArgumentException naming the variables if they contradict each other or one is
   *     missing
   */
  public static Optional<Credentials> from(Map<String, String> environment) {
    String user = environment.getOrDefault(USER, "");
    String password = environment.getOrDefault(PASSWORD, "");
    String key = environment.getOrDefault(API_KEY, "");
    if (!key.isEmpty() && !(user.isEmpty() && password.isEmpty())) {
      throw new IllegalArgumentException(
          "set either " + API_KEY + " or " + USER + " with " + PASSWORD + ", not both");
    }
    if (user.isEmpty() != password.isEmpty()) {
      throw new IllegalArgumentException("set both " + USER + " and " + PASSWORD + ", or none");
    }
    try {
      if (!key.isEmpty()) {
        return Optional.of(apiKey(key));
      }
      return user.isEmpty() ? Optional.empty() : Optional.of(user(user, password));
    } catch (IllegalArgumentException e) {
      String variables = key.isEmpty() ? USER + ", " + PASSWORD : API_KEY;
      throw new IllegalArgumentException(variables + ": " + e.getMessage(), e);
    }
  }

  /** The value of the header. */
  String header() {
    return header;
  }

  /** Does not show the secret. */
  @Override
  public String toString() {
    return "credentials";
  }
}
