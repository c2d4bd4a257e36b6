/** What tests rest on is tested itself. */
@NullMarked
package io.millrace.store.testkit.environment;

import org.jspecify.annotations.NullMarked;
