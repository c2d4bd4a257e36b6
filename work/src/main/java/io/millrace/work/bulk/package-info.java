/**
 * Bulk actions: one action on all items that a filter chooses, in the background.
 *
 * <pre>
 *   BulkOrder ── prepare ──► BulkAction (a document) ◄── put at its version ──┐
 *                                 │                                           │
 *            BulkRunner ── page ──┴─► BulkTarget of a layer ── batch ── one transaction
 * </pre>
 *
 * <p>A batch is changed in one transaction with the progress of its action, so that nothing is done
 * twice and nothing is left out, whatever crashes. Items are visited in an order that does not
 * change, each at most once; those that were created after the start are left alone.
 */
@NullMarked
package io.millrace.work.bulk;

import org.jspecify.annotations.NullMarked;
