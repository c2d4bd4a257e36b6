/**
 * A simulation of jobs: the registry, the dispatcher and the time-outs in virtual time, against a
 * model of what they promise.
 */
@NullMarked
package io.millrace.jobs.simulation;

import org.jspecify.annotations.NullMarked;
