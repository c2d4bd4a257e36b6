package io.millrace.store;

import java.util.List;

/** The answer to a {@link Command}: it was done, or it was refused and nothing changed. */
public sealed interface Outcome {
  /** The point of history that the decision saw, its own commit included. */
  Position position();

  /**
   * The command took effect.
   *
   * @param position the commit's own position; for a claim that found nothing, what it saw
   * @param timeMillis the store time of the decision
   * @param tasks the new tasks: adds, then updates, renewals and takings, each in the order asked;
   *     for a claim the tasks taken, none when nothing was available
   * @param documents the documents written, in the order asked
   * @param repeated whether this is the answer to an earlier command with the same request id
   */
  record Done(
      Position position,
      long timeMillis,
      List<Task> tasks,
      List<Document> documents,
      boolean repeated)
      implements Outcome {}

  /**
   * Nothing changed.
   *
   * @param position what the decision saw
   * @param timeMillis the store time of the decision
   * @param reasons every reason there is, at least one
   */
  record Refused(Position position, long timeMillis, List<Reason> reasons) implements Outcome {}

  /**
   * This answer if the command took effect.
   *
   * @throws RefusedException with all reasons if it did not
   */
  default Done done() {
    return switch (this) {
      case Done done -> done;
      case Refused refused -> throw new RefusedException(refused);
    };
  }
}
