package io.millrace.client.jobs;

import java.io.InputStream;

/**
 * The work of a {@link JobWorker} on a job. Called by several threads at a time, up to the
 * concurrency of the worker.
 */
@FunctionalInterface
public interface JobHandler {
  /**
   * Works on a job.
   *
   * <p>If the job is withdrawn, the thread is interrupted, reading the payload fails, and the
   * result has no effect.
   *
   * @param payload the payload, readable while it arrives; closed by the worker
   * @param job describes the job and receives progress
   * @return the result
   * @throws JobFailedException if the job failed; its message and logs are kept
   * @throws Exception if the job failed; the message and the stack trace are kept. The job is
   *     offered again until it has failed too often
   */
  JobResult handle(InputStream payload, JobContext job) throws Exception;
}
