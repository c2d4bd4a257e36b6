package io.millrace.jobs;

import java.time.Duration;

/**
 * How the registry treats jobs.
 *
 * @param batchSize how many jobs a batch takes, from 1; default 100
 * @param maxFailures after how many failures a job is failed for good, from 1; default 3
 * @param maxReturns after how many returns a job is failed for good, from 1; default 5. A return is
 *     an attempt that ended with its worker instead of with a result or failure
 * @param lease how long a claim lasts that nobody renews; default 60 seconds
 */
public record JobsOptions(int batchSize, int maxFailures, int maxReturns, Duration lease) {
  /** 100 jobs a batch, 3 failures, 5 returns, 60 seconds. */
  public static final JobsOptions DEFAULTS = new JobsOptions(100, 3, 5, Duration.ofSeconds(60));
}
