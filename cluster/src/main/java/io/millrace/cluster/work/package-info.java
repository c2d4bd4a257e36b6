/** The three kinds of work that a cluster can do. */
@NullMarked
package io.millrace.cluster.work;

import org.jspecify.annotations.NullMarked;
