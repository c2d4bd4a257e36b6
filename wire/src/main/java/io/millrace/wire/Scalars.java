package io.millrace.wire;

import io.millrace.store.Claim;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException.Why;
import io.millrace.store.Task;
import java.util.function.Function;

/** The JSON of client ids, positions and the store's enum constants, each a single value. */
final class Scalars {
  private static final long CLIENT_IDS = 1L << 53;
  private static final long NEGATIVE_CLIENT_IDS = 1L << 31;

  private Scalars() {}

  /**
   * Reads a client id. Some clients draw any 32-bit integer and expect to read the same number, but
   * the store accepts only 0 to 2^53 - 1. Therefore a negative id is stored as 2^53 plus the id,
   * and {@link #clientId(long)} converts it back.
   */
  static long clientId(JsonInput in) {
    long id = in.integer(-NEGATIVE_CLIENT_IDS, CLIENT_IDS - NEGATIVE_CLIENT_IDS - 1);
    return id < 0 ? CLIENT_IDS + id : id;
  }

  /** The number to write for a client id of the store. */
  static long clientId(long client) {
    return client >= CLIENT_IDS - NEGATIVE_CLIENT_IDS && client < CLIENT_IDS
        ? client - CLIENT_IDS
        : client;
  }

  /** Reads a string that {@link Position#toString} returned. */
  static Position position(JsonInput in) {
    String text = in.text();
    try {
      return Position.parse(text);
    } catch (IllegalArgumentException _) {
      throw in.wrong("is not a position: \"" + text + "\"");
    }
  }

  static String name(Task.State state) {
    return switch (state) {
      case WAITING -> "waiting";
      case DELAYED -> "delayed";
      case CLAIMED -> "claimed";
    };
  }

  static String name(Claim.Order order) {
    return switch (order) {
      case RANDOM -> "random";
      case OLDEST -> "oldest";
      case NEWEST -> "newest";
    };
  }

  static Claim.Order order(JsonInput in) {
    String expected = "must be \"random\", \"oldest\" or \"newest\"";
    return constant(in, Claim.Order.values(), Scalars::name, expected);
  }

  static String name(Reason.Kind kind) {
    return switch (kind) {
      case MISSING_UPDATE -> "changes";
      case MISSING_DELETE -> "deletes";
      case MISSING_DEPEND -> "depends";
      case OWNED_BY_ANOTHER -> "owned";
      case LEASE_ENDED -> "leases";
      case NOT_WAITING -> "waiting";
      case LIMIT_REACHED -> "reached";
      case VERSION_CONFLICT -> "documents";
      case REQUEST_ID_REUSED -> "requestid";
      case MALFORMED -> "bugs";
      case TOO_LARGE -> "limits";
      case FULL -> "full";
    };
  }

  static Reason.Kind kind(JsonInput in) {
    return constant(in, Reason.Kind.values(), Scalars::name, "is not a kind of refusal");
  }

  static String name(Why why) {
    return switch (why) {
      case GONE -> "gone";
      case OTHER_HISTORY -> "otherhistory";
      case TOO_SLOW -> "tooslow";
    };
  }

  static Why why(JsonInput in) {
    String expected = "must be \"gone\", \"otherhistory\" or \"tooslow\"";
    return constant(in, Why.values(), Scalars::name, expected);
  }

  private static <E> E constant(JsonInput in, E[] all, Function<E, String> name, String expected) {
    String text = in.text();
    for (E one : all) {
      if (name.apply(one).equals(text)) {
        return one;
      }
    }
    throw in.wrong(expected);
  }
}
