/** Tests of the whole kernel, in simulated environments or among real threads. */
@NullMarked
package io.millrace.store.testkit.kernel;

import org.jspecify.annotations.NullMarked;
