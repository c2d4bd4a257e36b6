package io.millrace.cluster.membership;

/**
 * A member in the list of members.
 *
 * @param token identifies the member: a random UUID for each process
 * @param workers the number of partitions that it works on at a time, 1 to {@value #MAX_WORKERS}
 */
public record Peer(String token, int workers) {
  /** The maximum number of workers of a member. */
  public static final int MAX_WORKERS = 10_000;

  /** Checks both. */
  public Peer {
    if (token.isEmpty()) {
      throw new IllegalArgumentException("a member needs a token");
    }
    if (workers < 1 || workers > MAX_WORKERS) {
      throw new IllegalArgumentException(
          "a member has 1 to %d workers, not %d".formatted(MAX_WORKERS, workers));
    }
  }
}
