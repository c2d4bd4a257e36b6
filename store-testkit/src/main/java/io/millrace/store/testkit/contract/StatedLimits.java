package io.millrace.store.testkit.contract;

/**
 * The limits that a store was opened with. Where a back end cannot set one, it states the one it
 * has; a test that would need very much to reach it is skipped visibly.
 *
 * @param operations the most parts of one transaction, documents included
 * @param transactionBytes the most bytes of one transaction
 * @param dataBytes the most bytes of one task's data or document's body
 * @param claimCount the most tasks of one claim
 * @param waitingClaims the most claims that wait at once
 * @param subscribers the most subscriptions at once
 */
public record StatedLimits(
    int operations,
    int transactionBytes,
    int dataBytes,
    int claimCount,
    int waitingClaims,
    int subscribers) {}
