/**
 * The state of the store: tasks by id and by group, documents, and recent requests, in
 * copy-on-write trees that can be frozen at no cost. One thread changes it; frozen trees may be
 * read by any thread.
 */
@NullMarked
package io.millrace.store.kernel.state;

import org.jspecify.annotations.NullMarked;
