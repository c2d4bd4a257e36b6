/** Tests of locks, semaphores and reporters, with the real clock and with a manual one. */
@NullMarked
package io.millrace.cluster.shared;

import org.jspecify.annotations.NullMarked;
