package io.millrace.jobs.worker;

import io.millrace.jobs.WorkerId;

/**
 * The registration of a worker.
 *
 * @param name its display name, 1 to 256 characters
 * @param id the id that it chose
 * @param token the secret that lets it in; empty if none is needed
 * @param jobs how many jobs it takes at a time, from 1 to 1,000; default 1
 * @param namesJobs whether it has given that number, and so knows the messages about single jobs
 */
public record Registration(String name, WorkerId id, String token, int jobs, boolean namesJobs) {
  /** A worker of one job that knows only the messages of the original protocol. */
  public static Registration single(String name, WorkerId id, String token) {
    return new Registration(name, id, token, 1, false);
  }
}
