/**
 * How durable commits reach subscribers: new ones as a chain that each walks at its own place,
 * older ones from the journal.
 */
@NullMarked
package io.millrace.store.kernel.subscriptions;

import org.jspecify.annotations.NullMarked;
