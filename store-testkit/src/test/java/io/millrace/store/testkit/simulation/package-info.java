/** The store in its simulation. */
@NullMarked
package io.millrace.store.testkit.simulation;

import org.jspecify.annotations.NullMarked;
