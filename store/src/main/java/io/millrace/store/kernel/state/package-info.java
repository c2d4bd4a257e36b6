/**
 * What the store knows: tasks by id and group, documents, and recent requests, in trees that freeze
 * for free. Changed by one thread; what is frozen may be read by any.
 */
@NullMarked
package io.millrace.store.kernel.state;

import org.jspecify.annotations.NullMarked;
