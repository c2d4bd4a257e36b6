/**
 * The records that the kernel writes to the journal, and their format. Only values; nothing here
 * uses the state.
 */
@NullMarked
package io.millrace.store.kernel.records;

import org.jspecify.annotations.NullMarked;
