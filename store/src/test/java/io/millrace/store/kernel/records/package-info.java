/** Tests of the kernel's own parts. */
@NullMarked
package io.millrace.store.kernel.records;

import org.jspecify.annotations.NullMarked;
