package io.millrace.graph.schedule;

import io.millrace.graph.Attempt;
import io.millrace.graph.Work;
import java.io.IOException;
import java.util.Optional;

/**
 * Begins attempts and finds them again. Safe for use by any number of threads.
 *
 * @param folders where their files are
 * @param credentials what they are given
 */
record Beginnings(AttemptFolders folders, Credentials credentials) {
  /** Begins one whose start has just come on record. */
  Attempt begin(Trial trial) {
    folders.prepare(trial);
    Attempt attempt = trial.type.start(work(trial));
    folders.markBegun(trial);
    return attempt;
  }

  /**
   * Finds one again whose start is on record and that is not known to have begun.
   *
   * @param complete whether every file is there that was written for it
   * @throws IllegalStateException where nothing is left of it, with the reason
   */
  Attempt recover(Trial trial, boolean complete) throws IOException {
    Optional<Attempt> found = trial.type.resume(work(trial));
    if (found.isPresent()) {
      folders.markBegun(trial);
      return found.get();
    }
    if (folders.hasBegun(trial)) {
      throw new IllegalStateException("the server stopped, and what it had begun is gone");
    }
    if (!complete) {
      throw new IllegalStateException(
          "the machine was restarted, and nothing shows whether it had begun");
    }
    folders.clear(trial);
    return begin(trial);
  }

  private Work work(Trial trial) {
    return new Work(
        trial.id,
        trial.number,
        trial.inputs,
        folders.folder(trial),
        credentials.of(trial.id, trial.number));
  }
}
