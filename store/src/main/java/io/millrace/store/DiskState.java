package io.millrace.store;

import org.jspecify.annotations.Nullable;

/**
 * How the disk of a store is doing.
 *
 * @param freeBytes the bytes that are free on it; {@link Long#MAX_VALUE} if that is not known
 * @param reserveBytes how many of them the journal leaves to others, see {@link
 *     Upkeep#diskReserveBytes}
 * @param shortage why the journal cannot have more room, in words; null while it can. Growth is
 *     refused as full until it is over
 * @param stuck whether commands wait for that room, and reads with them
 * @param snapshotFailure why the last snapshot could not be written, in words; null if it could
 */
public record DiskState(
    long freeBytes,
    long reserveBytes,
    @Nullable String shortage,
    boolean stuck,
    @Nullable String snapshotFailure) {}
