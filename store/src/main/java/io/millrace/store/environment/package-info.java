/**
 * The clocks, randomness, disk and threads of a store, each behind an interface, so that a
 * simulation can replace all of them.
 */
@NullMarked
package io.millrace.store.environment;

import org.jspecify.annotations.NullMarked;
