/**
 * The command interface of queues, {@code /dci/…}, as described in {@code docs/api.md}: the routes
 * of Disbatch 4, those of version 3 that old tools still call, and further ones.
 *
 * <p>The expectations of old clients take precedence over the general rules here: every success is
 * 200, and every error in the input, including unknown names, is 400.
 */
@NullMarked
package io.millrace.server.queues;

import org.jspecify.annotations.NullMarked;
