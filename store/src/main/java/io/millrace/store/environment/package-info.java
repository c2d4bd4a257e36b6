/**
 * What a store needs from the world: clocks, randomness, a disk and threads, each behind an
 * interface, so that a simulation can stand in for all of them.
 */
@NullMarked
package io.millrace.store.environment;

import org.jspecify.annotations.NullMarked;
