/** How the state is built anew from a journal. */
@NullMarked
package io.millrace.store.kernel.recovery;

import org.jspecify.annotations.NullMarked;
