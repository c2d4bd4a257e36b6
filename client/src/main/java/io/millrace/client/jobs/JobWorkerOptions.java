package io.millrace.client.jobs;

import io.millrace.client.ClientOptions;
import java.net.URI;

/**
 * The options of a job worker.
 *
 * @param server how to connect to the server. Of its timeouts, only the connect timeout applies,
 *     because the worker always retries
 * @param type the job type; empty on a server without types, the default
 * @param identity the identity of the worker
 * @param concurrency the number of jobs to take at a time, 1 to 1,000; default 1
 */
public record JobWorkerOptions(
    ClientOptions server, String type, Identity identity, int concurrency) {

  /**
   * The identity of a worker.
   *
   * @param name the display name, 1 to 256 characters
   * @param id a unique id, 1 to 256 characters, which should stay the same after a restart. The
   *     server counts results by id, and does not offer a failed job to the same id again
   * @param token the secret of the server's {@code jobs.worker.token}; empty if none is needed
   */
  public record Identity(String name, String id, String token) {
    private static final int MOST = 256;

    /** Rejects invalid names and ids. */
    public Identity {
      if (name.isBlank() || name.length() > MOST) {
        throw new IllegalArgumentException("a worker's name has 1 to " + MOST + " characters");
      }
      if (id.isBlank() || id.length() > MOST) {
        throw new IllegalArgumentException("a worker's id has 1 to " + MOST + " characters");
      }
    }

    /** The name and the id, without the token. */
    @Override
    public String toString() {
      return name + " (" + id + ")";
    }
  }

  private static final int MAX_JOBS = 1_000;

  /** Rejects an invalid concurrency. */
  public JobWorkerOptions {
    if (concurrency < 1 || concurrency > MAX_JOBS) {
      throw new IllegalArgumentException("concurrency must be from 1 to 1,000");
    }
  }

  /**
   * A worker for one job at a time, of a server without types.
   *
   * @param server the server's address, for example {@code http://localhost:8048}
   * @param name its name and its id
   */
  public static JobWorkerOptions at(URI server, String name) {
    return new JobWorkerOptions(ClientOptions.at(server), "", new Identity(name, name, ""), 1);
  }

  /** The same with other options for the server, for example with a token or certificates. */
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

  /** The same with the worker token of the server. */
  public JobWorkerOptions withToken(String token) {
    return new JobWorkerOptions(
        server, type, new Identity(identity.name(), identity.id(), token), concurrency);
  }

  /** The same with another concurrency. */
  public JobWorkerOptions withConcurrency(int concurrency) {
    return new JobWorkerOptions(server, type, identity, concurrency);
  }
}
