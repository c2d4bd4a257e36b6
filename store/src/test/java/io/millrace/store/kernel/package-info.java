/** Tests of the kernel's own parts. */
@NullMarked
package io.millrace.store.kernel;

import org.jspecify.annotations.NullMarked;
