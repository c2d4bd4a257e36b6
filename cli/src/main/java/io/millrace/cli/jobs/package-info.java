/**
 * Commands on the jobs of a server: {@link io.millrace.cli.jobs.JobsCommands}, the list of its
 * workers, and a worker that runs a command for each job.
 */
@NullMarked
package io.millrace.cli.jobs;

import org.jspecify.annotations.NullMarked;
