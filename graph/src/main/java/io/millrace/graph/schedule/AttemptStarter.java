package io.millrace.graph.schedule;

import io.millrace.graph.type.Attempt;
import io.millrace.graph.type.AttemptContext;
import java.io.IOException;
import java.util.Optional;

/**
 * Begins attempts and finds them again. Safe for use by any number of threads.
 *
 * @param folders where their files are
 * @param credentials what they are given
 */
record AttemptStarter(AttemptFolders folders, Credentials credentials) {
  /** Begins one whose start has just come on record. */
  Attempt begin(ActiveAttempt active) {
    folders.prepare(active);
    Attempt attempt = active.type.start(work(active));
    folders.markBegun(active);
    return attempt;
  }

  /**
   * Finds one again whose start is on record and that is not known to have begun.
   *
   * @param complete whether every file is there that was written for it
   * @throws IllegalStateException where nothing is left of it, with the reason
   */
  Attempt recover(ActiveAttempt active, boolean complete) throws IOException {
    Optional<Attempt> found = active.type.resume(work(active));
    if (found.isPresent()) {
      folders.markBegun(active);
      return found.get();
    }
    if (folders.hasBegun(active)) {
      throw new IllegalStateException("the server stopped, and what it had begun is gone");
    }
    if (!complete) {
      throw new IllegalStateException(
          "the machine was restarted, and nothing shows whether it had begun");
    }
    folders.clear(active);
    return begin(active);
  }

  private AttemptContext work(ActiveAttempt active) {
    return new AttemptContext(
        active.id,
        active.number,
        active.inputs,
        folders.folder(active),
        credentials.of(active.id, active.number));
  }
}
