package io.millrace.jobs.worker;

import io.millrace.jobs.WorkerId;

/**
 * Who a worker says it is.
 *
 * @param name its display name, 1 to 256 characters
 * @param id what it calls itself
 * @param token the secret that lets it in; empty where none is needed
 * @param jobs how many jobs it takes at a time, from 1 to 1,000; default 1
 * @param told whether it has named that number, and so knows the messages about single jobs
 */
public record Registration(String name, WorkerId id, String token, int jobs, boolean told) {
  /** A worker for one job, which knows the messages of the original protocol only. */
  public static Registration single(String name, WorkerId id, String token) {
    return new Registration(name, id, token, 1, false);
  }
}
