package io.millrace.cluster.status;

import org.jspecify.annotations.Nullable;

/**
 * A lock as its document shows it.
 *
 * @param key the lock's key
 * @param holder the token of its holder, by its document; null where it was released
 * @param expireMillis when the lease ends by the holder's clock, in milliseconds since 1970; 0
 *     where it was released
 * @param fence the fence of its last holder
 */
public record LockView(String key, @Nullable String holder, long expireMillis, long fence) {}
