/**
 * The test kit of the store: contract suites, simulated environments, a simulator and mutation
 * tests.
 */
@NullMarked
package io.millrace.store.testkit;

import org.jspecify.annotations.NullMarked;
