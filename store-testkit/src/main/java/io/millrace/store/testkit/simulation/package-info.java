/**
 * Simulates a store, its clients and its environment in one thread from one seed, checked against a
 * simple model.
 */
@NullMarked
package io.millrace.store.testkit.simulation;

import org.jspecify.annotations.NullMarked;
