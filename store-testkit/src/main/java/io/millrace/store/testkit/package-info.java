/** Contract suites for stores and a simulator of everything around one. */
@NullMarked
package io.millrace.store.testkit;

import org.jspecify.annotations.NullMarked;
