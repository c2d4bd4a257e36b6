/**
 * The command interface of queues, {@code /dci/…}, as {@code docs/api.md} lays it down: the routes
 * of Disbatch 4, those of version 3 that old tools still call, and ours beside them.
 *
 * <p>Here the expectations of old clients stand above the general rules: every success is 200 and
 * every input error, unknown names included, is 400.
 */
@NullMarked
package io.millrace.server.queues;

import org.jspecify.annotations.NullMarked;
