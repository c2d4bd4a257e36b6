/**
 * The task store over HTTP: {@code /store/…} as {@code docs/api.md} lays it down. The forms of
 * requests and responses are those of {@link io.millrace.wire}; here stand paths, statuses and
 * waiting.
 */
@NullMarked
package io.millrace.server.store;

import org.jspecify.annotations.NullMarked;
