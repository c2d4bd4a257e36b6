package io.millrace.store;

/**
 * A subscription cannot begin or continue at its position. The subscriber should read everything
 * again and then subscribe again.
 */
public final class PositionLostException extends StoreException {
  /** Why the position is lost. */
  public enum Why {
    /** The commits after it are no longer kept. */
    GONE,
    /** It belongs to a history that is not an ancestor of this store's. */
    OTHER_HISTORY,
    /**
     * The subscriber was too slow: the journal no longer holds the commits that it needs next. The
     * position is that of the last commit delivered.
     */
    TOO_SLOW
  }

  private final Why why;
  private final transient Position position;

  /** An exception about {@code position}. */
  public PositionLostException(Why why, Position position, String message) {
    super(message);
    this.why = why;
    this.position = position;
  }

  /** Why the position is lost. */
  public Why why() {
    return why;
  }

  /** The requested position; for {@link Why#TOO_SLOW}, that of the last commit delivered. */
  public Position position() {
    return position;
  }
}
