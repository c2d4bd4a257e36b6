package io.millrace.store;

import java.util.List;
import org.jspecify.annotations.Nullable;

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

  /**
   * One reason why a command was refused.
   *
   * @param kind what sort of reason
   * @param task the task at fault; null if it is no task
   * @param document the document at fault; null if it is no document
   * @param message the reason in words, naming what is at fault
   */
  record Reason(Kind kind, @Nullable TaskRef task, @Nullable DocumentKey document, String message) {

    /** The sorts of reasons. */
    public enum Kind {
      /** A task to update, renew or take is not there, or not with the expected id. */
      MISSING_UPDATE,
      /** A task to delete is not there, or not with the expected id. */
      MISSING_DELETE,
      /** A task depended upon is not there, or not with the expected id. */
      MISSING_DEPEND,
      /** A task to change is owned by another client. */
      OWNED_BY_ANOTHER,
      /** A claim to renew is not alive any more. */
      LEASE_ENDED,
      /** A task to take is delayed, or owned: by the client itself, or by one whom it overrides. */
      NOT_WAITING,
      /** A document does not have the expected version. */
      VERSION_CONFLICT,
      /** The request id was used before with other content. */
      REQUEST_ID_REUSED,
      /** The command contradicts itself or a part of it is not of the right form. */
      MALFORMED,
      /** The command exceeds a stated limit. */
      TOO_LARGE,
      /** The store has no room for growth or for one more waiting claim. */
      FULL
    }

    /** A reason about a task. */
    public static Reason of(Kind kind, TaskRef task, String message) {
      return new Reason(kind, task, null, message);
    }

    /** A reason about a document. */
    public static Reason of(Kind kind, DocumentKey document, String message) {
      return new Reason(kind, null, document, message);
    }

    /** A reason about the command itself. */
    public static Reason of(Kind kind, String message) {
      return new Reason(kind, null, null, message);
    }
  }
}
