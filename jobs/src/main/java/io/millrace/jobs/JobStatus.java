package io.millrace.jobs;

import java.util.Locale;
import java.util.Optional;

/** The status of a job. The package's description draws the transitions. */
public enum JobStatus {
  /** It waits for a worker, for the first time or again. */
  PENDING,
  /** A worker works on it. */
  RUNNING,
  /** Its result is stored. */
  DONE,
  /** It failed too often, or was cancelled; {@link JobRegistry#retry} offers it again. */
  FAILED;

  /** Its name in answers, in lower case. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Whether nothing more will happen by itself. */
  public boolean isEnd() {
    return this == DONE || this == FAILED;
  }

  /** The status of this name, in either case; empty for an unknown one. */
  public static Optional<JobStatus> named(String word) {
    for (JobStatus status : values()) {
      if (status.name().equalsIgnoreCase(word)) {
        return Optional.of(status);
      }
    }
    return Optional.empty();
  }
}
