/** Measurements of the store, in process and over HTTP, beside its peers. */
@NullMarked
package io.millrace.bench;

import org.jspecify.annotations.NullMarked;
