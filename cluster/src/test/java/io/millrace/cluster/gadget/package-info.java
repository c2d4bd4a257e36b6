/** An untrusted class. */
@NullMarked
package io.millrace.cluster.gadget;

import org.jspecify.annotations.NullMarked;
