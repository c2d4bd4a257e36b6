package io.millrace.jobs;

import java.util.Optional;
import java.util.UUID;

/**
 * The GUID of a job, given by the server; later ones sort behind earlier ones of the same server.
 *
 * @param value a version 7 UUID when the registry made it
 */
public record JobId(UUID value) {
  private static final int LENGTH = 36;

  /** The id that a text shows: 36 characters, in either case; empty when it is none. */
  public static Optional<JobId> parse(String text) {
    if (text.length() != LENGTH) {
      return Optional.empty();
    }
    try {
      JobId id = new JobId(UUID.fromString(text));
      return id.toString().equalsIgnoreCase(text) ? Optional.of(id) : Optional.empty();
    } catch (IllegalArgumentException _) {
      return Optional.empty();
    }
  }

  /** In lower case with dashes. */
  @Override
  public String toString() {
    return value.toString();
  }
}
