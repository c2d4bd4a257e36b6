package io.millrace.client.jobs;

import io.millrace.client.ClientOptions;
import java.net.URI;

/**
 * Which jobs a worker takes, and how it identifies itself.
 *
 * @param server how to reach the server; a path prefix belongs to its address. Of the timeouts only
 *     that for connections counts: a server that is away is waited for
 * @param type the job type; empty on a server without types, the default
 * @param identity who it is
 * @param concurrency how many jobs it takes at a time, 1 to 1,000; default 1
 */
public record JobWorkerOptions(
    ClientOptions server, String type, Identity identity, int concurrency) {

  /**
   * Who a worker is.
   *
   * @param name what people call it, 1 to 256 characters
   * @param id what is counted under, and what a job that failed does not come back to: the same
   *     after a restart, and another for every other worker
   * @param token the secret of the server's {@code jobs.worker.token}; empty if none is needed
   */
  public record Identity(String name, String id, String token) {
    private static final int MOST = 256;

    /** Rejects names that no worker can have. */
    public Identity {
      if (name.isBlank() || name.length() > MOST) {
        throw new IllegalArgumentException("a worker's name has 1 to " + MOST + " characters");
      }
      if (id.isBlank() || id.length() > MOST) {
        throw new IllegalArgumentException("a worker's id has 1 to " + MOST + " characters");
      }
    }

    /** The token is left out. */
    @Override
    public String toString() {
      return name + " (" + id + ")";
    }
  }

  private static final int MOST_JOBS = 1_000;

  /** Rejects values that make no sense. */
  public JobWorkerOptions {
    if (concurrency < 1 || concurrency > MOST_JOBS) {
      throw new IllegalArgumentException("concurrency must be from 1 to 1,000");
    }
  }

  /**
   * A worker for one job at a time, of a server without types.
   *
   * @param server the server's address, as {@code http://localhost:8048}
   * @param name its name and its id
   */
  public static JobWorkerOptions at(URI server, String name) {
    return new JobWorkerOptions(ClientOptions.at(server), "", new Identity(name, name, ""), 1);
  }

  /** The same for another way to the server, for example with a token or certificates. */
  public JobWorkerOptions withServer(ClientOptions server) {
    return new JobWorkerOptions(server, type, identity, concurrency);
  }

  /** The same for jobs of this type. */
  public JobWorkerOptions withType(String type) {
    return new JobWorkerOptions(server, type, identity, concurrency);
  }

  /** The same with another id. */
  public JobWorkerOptions withId(String id) {
    return new JobWorkerOptions(
        server, type, new Identity(identity.name(), id, identity.token()), concurrency);
  }

  /** The same with the secret that the server wants of workers. */
  public JobWorkerOptions withToken(String token) {
    return new JobWorkerOptions(
        server, type, new Identity(identity.name(), identity.id(), token), concurrency);
  }

  /** The same for this many jobs at a time. */
  public JobWorkerOptions withConcurrency(int concurrency) {
    return new JobWorkerOptions(server, type, identity, concurrency);
  }
}
