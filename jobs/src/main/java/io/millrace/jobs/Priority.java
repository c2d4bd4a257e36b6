package io.millrace.jobs;

import java.util.Locale;
import java.util.Optional;

/** How soon a job is wanted: all immediate ones go before all batch ones. */
public enum Priority {
  /** Before every job of batch priority. */
  IMMEDIATE,
  /** When nothing immediate waits. */
  BATCH;

  /** Its name in requests and answers, in lower case. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The priority of this name, in either case; empty for an unknown one. */
  public static Optional<Priority> named(String word) {
    for (Priority priority : values()) {
      if (priority.name().equalsIgnoreCase(word)) {
        return Optional.of(priority);
      }
    }
    return Optional.empty();
  }
}
