/**
 * A cluster in virtual time. One seed decides everything: the clocks of members, how long requests
 * take and which are lost, who crashes, stands still or is cut off. Everything runs in one thread:
 * while a member waits for the documents, the world goes on inside of its call.
 */
@NullMarked
package io.millrace.cluster.simulation;

import org.jspecify.annotations.NullMarked;
