/** Tests of what serves HTTP. */
@NullMarked
package io.millrace.server.http;

import org.jspecify.annotations.NullMarked;
