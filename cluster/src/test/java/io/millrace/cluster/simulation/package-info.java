/**
 * A cluster in virtual time. One seed decides everything: the clocks of members, how long requests
 * take and which are lost, and which members crash, are paused or are disconnected. Everything runs
 * in one thread: while a member waits for the documents, other events run inside its call.
 */
@NullMarked
package io.millrace.cluster.simulation;

import org.jspecify.annotations.NullMarked;
