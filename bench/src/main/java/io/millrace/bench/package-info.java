/** Measurements of the store, in process and over HTTP, beside other servers. */
@NullMarked
package io.millrace.bench;

import org.jspecify.annotations.NullMarked;
