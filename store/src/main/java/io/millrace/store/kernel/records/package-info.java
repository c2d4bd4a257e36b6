/**
 * What the kernel writes to the journal: events, the other records, and their byte forms. Values
 * only; nothing here knows the state.
 */
@NullMarked
package io.millrace.store.kernel.records;

import org.jspecify.annotations.NullMarked;
