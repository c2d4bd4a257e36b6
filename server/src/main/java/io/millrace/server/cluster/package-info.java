/** The cluster that coordinates itself over the server's own store, as others can see it. */
@NullMarked
package io.millrace.server.cluster;

import org.jspecify.annotations.NullMarked;
