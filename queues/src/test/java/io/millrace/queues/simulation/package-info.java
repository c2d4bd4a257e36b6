/**
 * Queues in virtual time: users, execution nodes and crashes on one store, whose every commit a
 * referee checks.
 */
@NullMarked
package io.millrace.queues.simulation;

import org.jspecify.annotations.NullMarked;
