package io.millrace.cluster.leader;

/** How a leader gives out work. Used by one thread, for one leader after the other. */
public interface Handout {
  /** What comes of a turn. */
  enum Result {
    /** Nothing was to be done. */
    IDLE,
    /** Something was done, and there may be more soon. */
    BUSY,
    /** The members have changed: the work is to be divided anew, in a generation of its own. */
    DIVIDE_ANEW
  }

  /** Gives out what is to be given out now. */
  Result take(Turn turn, Board board);

  /** This member leads no more, or has not begun to. Called often; does nothing by default. */
  default void rest() {}
}
