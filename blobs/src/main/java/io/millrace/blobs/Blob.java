package io.millrace.blobs;

import java.time.Instant;

/**
 * A blob in a listing.
 *
 * @param name its name
 * @param size its size in bytes
 * @param modified when its bytes were stored, by the clock of the machine that stores it
 */
public record Blob(String name, long size, Instant modified) {}
