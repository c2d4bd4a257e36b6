/** What tests rest on is tested itself. */
@NullMarked
package io.millrace.store.testkit.mutation;

import org.jspecify.annotations.NullMarked;
