package io.millrace.client.jobs;

import io.millrace.client.ClientOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeoutException;

/**
 * Submits jobs of a kind and waits for their results. Thread-safe; to be closed.
 *
 * <p>Every method throws a {@link io.millrace.store.StoreException}: {@link
 * io.millrace.client.RejectedException} if the server rejects the call, {@link
 * io.millrace.client.UnreachableException} if it cannot be reached and nothing changed, and {@link
 * io.millrace.store.OutcomeUnknownException} if the response to a change was lost. Submit with
 * {@link JobOrder#withRequestId} to be able to repeat a submission whose outcome is unknown.
 */
public interface JobClient extends AutoCloseable {
  /** A client of the server that the options name. Connects on first use. */
  static JobClient open(ClientOptions server) {
    return new HttpJobClient(server);
  }

  /**
   * A job that was submitted.
   *
   * @param id its GUID, which can be stored and used later
   * @param key its key; the GUID if it has none
   * @param duplicate whether it was there already, with the same unique key or request id
   */
  record SubmittedJob(String id, String key, boolean duplicate) {}

  /**
   * Submits a job. It is stored when this returns.
   *
   * @throws IllegalArgumentException if the payload cannot be written
   */
  <P> SubmittedJob submit(JobKind<P, ?> kind, P payload, JobOrder order);

  /** The same with the defaults. */
  default <P> SubmittedJob submit(JobKind<P, ?> kind, P payload) {
    return submit(kind, payload, JobOrder.DEFAULT);
  }

  /**
   * Waits for the result of a job.
   *
   * @param job its GUID or key
   * @throws TimeoutException if it has not ended in time; it goes on
   * @throws JobFailedException if it has failed, with the reason and the logs of its last attempt
   * @throws IOException if the result cannot be read, or is no such value
   */
  <R> R await(JobKind<?, R> kind, String job, Duration timeout)
      throws InterruptedException, TimeoutException, JobFailedException, IOException;

  /**
   * Submits a job and waits for its result.
   *
   * @throws TimeoutException if it has not ended in time; it goes on
   * @throws JobFailedException if it has failed
   * @throws IOException if the result cannot be read
   */
  default <P, R> R call(JobKind<P, R> kind, P payload, Duration timeout)
      throws InterruptedException, TimeoutException, JobFailedException, IOException {
    return await(kind, submit(kind, payload).id(), timeout);
  }

  /**
   * Makes a job fail that has not ended.
   *
   * @param job its GUID or key
   */
  void cancel(String job);

  @Override
  void close();
}
