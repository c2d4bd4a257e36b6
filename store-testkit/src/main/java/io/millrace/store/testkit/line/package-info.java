/** A bad line between a store and who uses it. */
@NullMarked
package io.millrace.store.testkit.line;

import org.jspecify.annotations.NullMarked;
