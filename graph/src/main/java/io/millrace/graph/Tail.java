package io.millrace.graph;

/** Output that may still grow. Safe for use by any number of threads. */
public interface Tail {
  /** Its size so far, in bytes. */
  long size();

  /**
   * Reads what is there; never waits.
   *
   * @param offset in bytes, from 0
   * @param most the most bytes to give, from 1
   * @return the bytes; empty at or past what there is so far
   */
  byte[] read(long offset, int most);
}
