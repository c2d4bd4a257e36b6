/**
 * The contracts of stores and journals, as tests. A back end extends {@link
 * io.millrace.store.testkit.contract.TaskStoreContract} and supplies a fixture, and so inherits all
 * topics.
 */
@NullMarked
package io.millrace.store.testkit.contract;

import org.jspecify.annotations.NullMarked;
