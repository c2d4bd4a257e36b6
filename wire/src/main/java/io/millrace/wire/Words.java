package io.millrace.wire;

import io.millrace.store.ClaimOrder;
import io.millrace.store.PositionLostException.Why;
import io.millrace.store.Reason;
import io.millrace.store.TaskState;

/** The words that the wire has for the constants of the store. */
final class Words {
  private Words() {}

  static String of(TaskState state) {
    return switch (state) {
      case WAITING -> "waiting";
      case DELAYED -> "delayed";
      case CLAIMED -> "claimed";
    };
  }

  static String of(ClaimOrder order) {
    return switch (order) {
      case RANDOM -> "random";
      case OLDEST -> "oldest";
      case NEWEST -> "newest";
    };
  }

  static ClaimOrder order(JsonInput in) {
    return switch (in.text()) {
      case "random" -> ClaimOrder.RANDOM;
      case "oldest" -> ClaimOrder.OLDEST;
      case "newest" -> ClaimOrder.NEWEST;
      default -> throw in.wrong("must be \"random\", \"oldest\" or \"newest\"");
    };
  }

  static String of(Reason.Kind kind) {
    return switch (kind) {
      case MISSING_UPDATE -> "changes";
      case MISSING_DELETE -> "deletes";
      case MISSING_DEPEND -> "depends";
      case OWNED_BY_ANOTHER -> "owned";
      case LEASE_ENDED -> "leases";
      case NOT_WAITING -> "waiting";
      case VERSION_CONFLICT -> "documents";
      case REQUEST_ID_REUSED -> "requestid";
      case MALFORMED -> "bugs";
      case TOO_LARGE -> "limits";
      case FULL -> "full";
    };
  }

  static Reason.Kind kind(JsonInput in) {
    return switch (in.text()) {
      case "changes" -> Reason.Kind.MISSING_UPDATE;
      case "deletes" -> Reason.Kind.MISSING_DELETE;
      case "depends" -> Reason.Kind.MISSING_DEPEND;
      case "owned" -> Reason.Kind.OWNED_BY_ANOTHER;
      case "leases" -> Reason.Kind.LEASE_ENDED;
      case "waiting" -> Reason.Kind.NOT_WAITING;
      case "documents" -> Reason.Kind.VERSION_CONFLICT;
      case "requestid" -> Reason.Kind.REQUEST_ID_REUSED;
      case "bugs" -> Reason.Kind.MALFORMED;
      case "limits" -> Reason.Kind.TOO_LARGE;
      case "full" -> Reason.Kind.FULL;
      default -> throw in.wrong("is no kind of refusal");
    };
  }

  static String of(Why why) {
    return switch (why) {
      case GONE -> "gone";
      case OTHER_HISTORY -> "otherhistory";
      case TOO_SLOW -> "tooslow";
    };
  }

  static Why why(JsonInput in) {
    return switch (in.text()) {
      case "gone" -> Why.GONE;
      case "otherhistory" -> Why.OTHER_HISTORY;
      case "tooslow" -> Why.TOO_SLOW;
      default -> throw in.wrong("must be \"gone\", \"otherhistory\" or \"tooslow\"");
    };
  }
}
