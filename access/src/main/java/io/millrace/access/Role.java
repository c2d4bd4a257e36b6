package io.millrace.access;

import io.millrace.access.AccessException.InvalidAccessException;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** What a principal may do. The first four include each other upwards; {@link #WORKER} is apart. */
public enum Role {
  /** Reads. */
  VIEWER,
  /** Adds work. */
  SUBMITTER,
  /** Changes what others added, and how work runs. */
  OPERATOR,
  /** May do everything, and decides who may do what. */
  ADMIN,
  /** Takes work and reports on it. */
  WORKER;

  /** The word for it, in lower case. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The role with this word.
   *
   * @throws InvalidAccessException if there is none
   */
  public static Role of(String word) {
    return Arrays.stream(values())
        .filter(role -> role.word().equals(word))
        .findAny()
        .orElseThrow(() ->
            new InvalidAccessException(
                "there is no role \"%s\", only %s"
                    .formatted(
                        word,
                        Arrays.stream(values())
                            .map(Role::word)
                            .collect(Collectors.joining(", ")))));
  }
}
