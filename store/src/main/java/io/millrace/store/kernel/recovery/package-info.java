/** Rebuilds the state from a journal. */
@NullMarked
package io.millrace.store.kernel.recovery;

import org.jspecify.annotations.NullMarked;
