/** Tests of the kernel's state. */
@NullMarked
package io.millrace.store.kernel.state;

import org.jspecify.annotations.NullMarked;
