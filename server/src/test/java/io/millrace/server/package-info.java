/** Tests of the server as a whole. */
@NullMarked
package io.millrace.server;

import org.jspecify.annotations.NullMarked;
