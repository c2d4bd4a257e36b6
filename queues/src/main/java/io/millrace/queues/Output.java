package io.millrace.queues;

/** What a queue task wrote to one of its streams. */
public sealed interface Output {
  /** Nothing that is known: the task has not ended, or its output was not kept. */
  record None() implements Output {}

  /**
   * Text that lives in the task itself.
   *
   * @param text all of it; bytes that are no UTF-8 are replaced
   */
  record Text(String text) implements Output {}

  /**
   * A file in the blob store, see {@link OutputFile}.
   *
   * @param file the id of the file
   * @param sizeBytes its size
   * @param shownAsText whether those who read the task see its text, and not only its id
   */
  record Stored(ObjectId file, long sizeBytes, boolean shownAsText) implements Output {}

  /** Nothing. */
  static Output none() {
    return new None();
  }
}
