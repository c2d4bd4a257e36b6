package io.millrace.blobs;

import java.time.Instant;

/**
 * A blob as a listing shows it.
 *
 * @param name its name
 * @param size in bytes, from 0
 * @param modified when its bytes were stored, by the clock of the machine that keeps it
 */
public record Blob(String name, long size, Instant modified) {}
