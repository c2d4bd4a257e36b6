/** One port for every system's HTTP interface. */
@NullMarked
package io.millrace.server;

import org.jspecify.annotations.NullMarked;
