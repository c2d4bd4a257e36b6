/** Tests of the kernel's snapshots. */
@NullMarked
package io.millrace.store.kernel.snapshots;

import org.jspecify.annotations.NullMarked;
