/** Tests of the kernel's decisions. */
@NullMarked
package io.millrace.store.kernel.decisions;

import org.jspecify.annotations.NullMarked;
