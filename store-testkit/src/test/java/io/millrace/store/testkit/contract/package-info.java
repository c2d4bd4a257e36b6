/** The store of this process keeps the contract. */
@NullMarked
package io.millrace.store.testkit.contract;

import org.jspecify.annotations.NullMarked;
