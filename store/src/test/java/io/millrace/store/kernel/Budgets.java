package io.millrace.store.kernel;

import io.millrace.store.StoreOptions.Limits;

/** The default limits but for one. */
public final class Budgets {
  private Budgets() {}

  public static Limits subscriberLag(int commits) {
    Limits limits = Limits.defaults();
    return with(commits, limits.unsyncedBytes(), limits.memoryBytes());
  }

  static Limits unsynced(long bytes) {
    Limits limits = Limits.defaults();
    return with(limits.subscriberLag(), bytes, limits.memoryBytes());
  }

  static Limits memory(long bytes) {
    Limits limits = Limits.defaults();
    return with(limits.subscriberLag(), limits.unsyncedBytes(), bytes);
  }

  private static Limits with(int subscriberLag, long unsyncedBytes, long memoryBytes) {
    Limits limits = Limits.defaults();
    return new Limits(
        limits.operations(),
        limits.transactionBytes(),
        limits.dataBytes(),
        limits.nameBytes(),
        limits.requestIdBytes(),
        limits.claimCount(),
        limits.claimGroups(),
        limits.waitingClaims(),
        limits.subscribers(),
        subscriberLag,
        limits.subscriberLagBytes(),
        limits.queuedCommands(),
        limits.queuedBytes(),
        unsyncedBytes,
        memoryBytes);
  }
}
