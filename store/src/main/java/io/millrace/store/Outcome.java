package io.millrace.store;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The answer to a {@link Command}: it was executed, or it was refused and nothing has changed. */
public sealed interface Outcome {
  /** The position at which the command was decided, including its own commit. */
  Position position();

  /**
   * The command was executed.
   *
   * @param position the position of the commit; for a claim that found nothing, the current
   *     position
   * @param timeMillis the store time of the decision
   * @param tasks the new tasks: adds, then updates, renewals and takings, each in the order of the
   *     command; for a claim the tasks taken, empty if none was available
   * @param documents the documents written, in the order of the command
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
   * The command was refused, and nothing has changed.
   *
   * @param position the position at which it was decided
   * @param timeMillis the store time of the decision
   * @param reasons all reasons, at least one
   */
  record Refused(Position position, long timeMillis, List<Reason> reasons) implements Outcome {}

  /**
   * This answer, if the command was executed.
   *
   * @throws RefusedException if it was refused
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
   * @param kind the kind of reason
   * @param task the task that is the reason; null if it is not a task
   * @param document the document that is the reason; null if it is not a document
   * @param message the reason for people, which names the task or document
   */
  record Reason(Kind kind, @Nullable TaskRef task, @Nullable DocumentKey document, String message) {

    /** The kinds of reasons. */
    public enum Kind {
      /** A task to update, renew or take does not exist, or not with the expected id. */
      MISSING_UPDATE,
      /** A task to delete does not exist, or not with the expected id. */
      MISSING_DELETE,
      /** A task that the command depends on does not exist, or not with the expected id. */
      MISSING_DEPEND,
      /** A task to change is owned by another client. */
      OWNED_BY_ANOTHER,
      /** A claim to renew has ended. */
      LEASE_ENDED,
      /** A task to take is delayed, or owned by the client itself or a client that it overrides. */
      NOT_WAITING,
      /** A task to take may not start yet: a limit of its group, key or a shared one is reached. */
      LIMIT_REACHED,
      /** A document does not have the expected version. */
      VERSION_CONFLICT,
      /** The request id was used before with other content. */
      REQUEST_ID_REUSED,
      /** The command contradicts itself, or a part of it is malformed. */
      MALFORMED,
      /** The command exceeds a limit. */
      TOO_LARGE,
      /** The store has no room to grow, or for another waiting claim. */
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
