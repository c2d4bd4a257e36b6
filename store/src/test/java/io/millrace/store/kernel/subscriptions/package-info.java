/** Tests of the kernel's subscriptions. */
@NullMarked
package io.millrace.store.kernel.subscriptions;

import org.jspecify.annotations.NullMarked;
