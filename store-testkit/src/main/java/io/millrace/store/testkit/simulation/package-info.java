/** A store, its clients and its world in one thread under one seed, checked by a plain model. */
@NullMarked
package io.millrace.store.testkit.simulation;

import org.jspecify.annotations.NullMarked;
