package io.millrace.store;

/**
 * A subscription cannot begin or continue at its position: read everything again, then subscribe.
 */
public final class PositionLostException extends StoreException {
  /** Why a position cannot be served. */
  public enum Why {
    /** The commits after it are not kept any more. */
    GONE,
    /** It belongs to a history that is not an ancestor of this store's. */
    OTHER_HISTORY,
    /**
     * The subscriber was too slow: the journal does not hold the commits any more that it has yet
     * to see. The position is that of the last one delivered.
     */
    TOO_SLOW
  }

  private final Why why;
  private final transient Position position;

  /** About {@code position}. */
  public PositionLostException(Why why, Position position, String message) {
    super(message);
    this.why = why;
    this.position = position;
  }

  /** Why. */
  public Why why() {
    return why;
  }

  /** The position asked for; for {@link Why#TOO_SLOW}, that of the last commit delivered. */
  public Position position() {
    return position;
  }
}
