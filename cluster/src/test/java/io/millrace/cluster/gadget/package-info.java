/** A class that nobody trusts. */
@NullMarked
package io.millrace.cluster.gadget;

import org.jspecify.annotations.NullMarked;
