package io.millrace.wire;

import io.millrace.store.Claim;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException.Why;
import io.millrace.store.Task;
import java.util.function.Function;

/** How client ids, positions and the constants of the store are written as single JSON values. */
final class Scalars {
  private static final long CLIENT_IDS = 1L << 53;
  private static final long NEGATIVE_CLIENT_IDS = 1L << 31;

  private Scalars() {}

  /**
   * The store's client id for the value of a field. Old clients draw any 32-bit integer and read it
   * back as one, but the store knows only 0 to 2^53 - 1. So a negative id stands for 2^53 plus
   * itself, in both directions.
   */
  static long clientId(JsonInput in) {
    long id = in.integer(-NEGATIVE_CLIENT_IDS, CLIENT_IDS - NEGATIVE_CLIENT_IDS - 1);
    return id < 0 ? CLIENT_IDS + id : id;
  }

  /** What to write for the store's client id. */
  static long clientId(long client) {
    return client >= CLIENT_IDS - NEGATIVE_CLIENT_IDS && client < CLIENT_IDS
        ? client - CLIENT_IDS
        : client;
  }

  /** Reads the string that {@link Position#toString} gives. */
  static Position position(JsonInput in) {
    String text = in.text();
    try {
      return Position.parse(text);
    } catch (IllegalArgumentException _) {
      throw in.wrong("is not a position: \"" + text + "\"");
    }
  }

  static String word(Task.State state) {
    return switch (state) {
      case WAITING -> "waiting";
      case DELAYED -> "delayed";
      case CLAIMED -> "claimed";
    };
  }

  static String word(Claim.Order order) {
    return switch (order) {
      case RANDOM -> "random";
      case OLDEST -> "oldest";
      case NEWEST -> "newest";
    };
  }

  static Claim.Order order(JsonInput in) {
    String expected = "must be \"random\", \"oldest\" or \"newest\"";
    return constant(in, Claim.Order.values(), Scalars::word, expected);
  }

  static String word(Reason.Kind kind) {
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
    return constant(in, Reason.Kind.values(), Scalars::word, "is no kind of refusal");
  }

  static String word(Why why) {
    return switch (why) {
      case GONE -> "gone";
      case OTHER_HISTORY -> "otherhistory";
      case TOO_SLOW -> "tooslow";
    };
  }

  static Why why(JsonInput in) {
    String expected = "must be \"gone\", \"otherhistory\" or \"tooslow\"";
    return constant(in, Why.values(), Scalars::word, expected);
  }

  private static <E> E constant(JsonInput in, E[] all, Function<E, String> word, String expected) {
    String text = in.text();
    for (E one : all) {
      if (word.apply(one).equals(text)) {
        return one;
      }
    }
    throw in.wrong(expected);
  }
}
