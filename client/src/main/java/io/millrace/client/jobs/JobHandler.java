package io.millrace.client.jobs;

import java.io.InputStream;

/** What a worker does with a job. Called by as many threads at a time as it takes jobs. */
@FunctionalInterface
public interface JobHandler {
  /**
   * Works on a job.
   *
   * <p>When the job is taken back the calling thread is interrupted, reading the payload fails, and
   * whatever this returns has no effect.
   *
   * @param payload its bytes, readable while they still come; closed by the worker
   * @param job which job it is; takes progress
   * @return its result
   * @throws JobFailedException when it failed, with what is to be kept of that
   * @throws Exception when it failed, which is kept with its message and stack trace; the job is
   *     offered again until it has failed too often
   */
  JobResult handle(InputStream payload, JobContext job) throws Exception;
}
