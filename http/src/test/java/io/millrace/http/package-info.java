/** Tests of what serves HTTP. */
@NullMarked
package io.millrace.http;

import org.jspecify.annotations.NullMarked;
