/**
 * Delivers durable commits to subscribers: new ones from a linked list in memory, older ones from
 * the journal.
 */
@NullMarked
package io.millrace.store.kernel.subscriptions;

import org.jspecify.annotations.NullMarked;
