package io.millrace.store;

/**
 * What a store refuses, so that no client can hurt the others.
 *
 * @param operations the most parts of one transaction and references of one read; default 10,000
 * @param transactionBytes the most bytes of data, documents and names in one transaction; default
 *     16 MiB
 * @param dataBytes the most bytes of one task's data or one document's body; default 1 MiB
 * @param nameBytes the most bytes of UTF-8 of a group, collection, key or local name; default 512
 * @param requestIdBytes the most bytes of UTF-8 of a request id; default 128
 * @param claimCount the most tasks of one claim; default 1,000
 * @param claimGroups the most groups of one claim; default 100
 * @param waitingClaims the most claims that wait at a time; default 10,000
 * @param subscribers the most subscriptions open at a time; default 1,000
 * @param subscriberLag the most commits that are kept in memory for a subscriber that is behind; a
 *     subscriber further behind goes on from the journal, see {@link Subscription}; default 100,000
 * @param subscriberLagBytes the most bytes that those commits may take, by the store's own
 *     estimate; default a sixteenth of the largest heap, at most 64 MiB
 * @param queuedCommands the most commands and reads that wait for the store's thread, at least 1;
 *     beyond it callers get a {@link StoreBusyException}; default 100,000
 * @param queuedBytes the most bytes that those may take, by the store's own estimate; one command
 *     alone may take more; default a sixteenth of the largest heap, at most 64 MiB
 * @param unsyncedBytes the most bytes of journal that are not on disk; beyond it new commands wait;
 *     default 64 MiB
 * @param memoryBytes what tasks, documents and remembered requests may take, by the store's own
 *     estimate; growth beyond is refused as full; default 60 % of the largest heap
 */
public record Limits(
    int operations,
    int transactionBytes,
    int dataBytes,
    int nameBytes,
    int requestIdBytes,
    int claimCount,
    int claimGroups,
    int waitingClaims,
    int subscribers,
    int subscriberLag,
    long subscriberLagBytes,
    int queuedCommands,
    long queuedBytes,
    long unsyncedBytes,
    long memoryBytes) {

  /** The largest number that JSON carries exactly everywhere: the limit of ids and times. */
  public static final long LARGEST_NUMBER = (1L << 53) - 1;

  /** The defaults. */
  public static Limits defaults() {
    long sixteenth = Math.min(64L << 20, Runtime.getRuntime().maxMemory() / 16);
    return new Limits(
        10_000,
        16 << 20,
        1 << 20,
        512,
        128,
        1_000,
        100,
        10_000,
        1_000,
        100_000,
        sixteenth,
        100_000,
        sixteenth,
        64L << 20,
        Runtime.getRuntime().maxMemory() / 10 * 6);
  }

  /** The same with another memory budget. */
  public Limits withMemoryBytes(long memoryBytes) {
    return with(subscriberLag, subscriberLagBytes, queuedCommands, queuedBytes, memoryBytes);
  }

  /** The same with other bounds of what is kept for a subscriber that is behind. */
  public Limits withSubscriberLag(int commits, long bytes) {
    return with(commits, bytes, queuedCommands, queuedBytes, memoryBytes);
  }

  /** The same with other bounds of what waits for the store's thread. */
  public Limits withQueued(int commands, long bytes) {
    return with(subscriberLag, subscriberLagBytes, commands, bytes, memoryBytes);
  }

  private Limits with(
      int lag, long lagBytes, int commands, long commandBytes, long memoryBudgetBytes) {
    return new Limits(
        operations,
        transactionBytes,
        dataBytes,
        nameBytes,
        requestIdBytes,
        claimCount,
        claimGroups,
        waitingClaims,
        subscribers,
        lag,
        lagBytes,
        commands,
        commandBytes,
        unsyncedBytes,
        memoryBudgetBytes);
  }
}
