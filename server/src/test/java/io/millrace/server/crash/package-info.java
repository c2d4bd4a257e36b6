/** The server as a process of its own that is killed without warning. */
@NullMarked
package io.millrace.server.crash;

import org.jspecify.annotations.NullMarked;
