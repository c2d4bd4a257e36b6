/**
 * Workers and the jobs in their hands: the manager owns what is said on connections, the dispatcher
 * matches jobs to workers, and they meet only here and in the registry.
 */
@NullMarked
package io.millrace.jobs.worker;

import org.jspecify.annotations.NullMarked;
