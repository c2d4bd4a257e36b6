/**
 * A journal in a place that several servers share: one leads, the others may follow.
 *
 * <pre>
 *   append n: does n continue the head? --yes--> written
 *                                       --no---> read back: written, or fenced
 *             no answer ----> the same bytes again, until the answer is definite or the deadline has passed
 * </pre>
 *
 * {@link io.millrace.journal.shared.JournalHome} is what databases and buckets have to be able to
 * do. docs/stores.md says what each guarantees.
 */
@NullMarked
package io.millrace.journal.shared;

import org.jspecify.annotations.NullMarked;
