package io.millrace.store.kernel;

/**
 * A request id with what was asked under it.
 *
 * @param id the id that the client chose, unique for its principal
 * @param digestHigh the first half of the digest of the command's content
 * @param digestLow the second half
 */
record RequestMark(String id, long digestHigh, long digestLow) {
  /** Whether both stand for the same content. */
  boolean sameContent(RequestMark other) {
    return digestHigh == other.digestHigh && digestLow == other.digestLow;
  }
}
