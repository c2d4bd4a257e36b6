/** The API of a cluster whose members coordinate over the server's own store. */
@NullMarked
package io.millrace.server.cluster;

import org.jspecify.annotations.NullMarked;
