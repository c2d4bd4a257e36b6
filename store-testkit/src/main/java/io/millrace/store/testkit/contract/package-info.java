/**
 * What every store must do, as tests. A back end extends {@link
 * io.millrace.store.testkit.contract.TaskStoreContract} with a factory and inherits all topics; or
 * it extends the class of one topic.
 */
@NullMarked
package io.millrace.store.testkit.contract;

import org.jspecify.annotations.NullMarked;
