package io.millrace.spring.outbox;

import io.millrace.client.jobs.JobKind;
import io.millrace.client.jobs.JobOrder;
import io.millrace.work.policy.TimeText;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Submits jobs as a part of the transaction of the caller: if that commits, each becomes exactly
 * one job soon afterwards, and if it is rolled back, none does. Thread-safe.
 *
 * <p>Jobs reach the server in the order in which they were submitted, if their transactions did not
 * overlap.
 */
public final class JobOutbox {
  private static final String REQUEST = "RequestId";
  private static final String DELAY = "Delay";

  private final OutboxTable table;
  private final OutboxRelay relay;
  private final Bounds bounds;
  private final InstantSource clock;

  /**
   * How much the outbox may hold.
   *
   * @param rows the most jobs that wait; those of the last five seconds may come in addition
   * @param payloadBytes the longest payload
   */
  public record Bounds(long rows, int payloadBytes) {}

  /** An outbox whose rows a relay sends. */
  public JobOutbox(OutboxTable table, OutboxRelay relay, Bounds bounds, InstantSource clock) {
    this.table = table;
    this.relay = relay;
    this.bounds = bounds;
    this.clock = clock;
  }

  /**
   * Submits a job when the transaction of the caller commits.
   *
   * @param order how; a delay counts from now
   * @return the request id, which no other submission has
   * @throws IllegalTransactionStateException if there is no transaction of the data source of the
   *     outbox
   * @throws IllegalArgumentException if the payload cannot be written or is too long
   * @throws OutboxFullException if too many jobs wait
   */
  public <P> String submit(JobKind<P, ?> kind, P payload, JobOrder order) {
    if (!TransactionSynchronizationManager.isActualTransactionActive()) {
      throw new IllegalTransactionStateException(
          "a job is submitted to the outbox within a transaction; without one, submit it with a"
              + " JobClient");
    }
    byte[] bytes = kind.writePayload(payload);
    if (bytes.length > bounds.payloadBytes) {
      throw new IllegalArgumentException(
          "the payload has %,d bytes, and millrace.outbox.max-payload is %,d bytes"
              .formatted(bytes.length, bounds.payloadBytes));
    }
    long waiting = relay.waiting();
    if (waiting >= bounds.rows) {
      throw new OutboxFullException(waiting, bounds.rows);
    }
    Map<String, String> fields = new LinkedHashMap<>(order.fields());
    String request = fields.computeIfAbsent(REQUEST, _ -> UUID.randomUUID().toString());
    String delay = fields.remove(DELAY);
    if (delay != null) {
      fields.put("At", clock.instant().plus(TimeText.duration(DELAY, delay)).toString());
    }
    table.insert(kind.name(), fields, bytes, clock.millis());
    relay.added();
    TransactionSynchronizationManager.registerSynchronization(
        new TransactionSynchronization() {
          @Override
          public void afterCommit() {
            relay.wake();
          }
        });
    return request;
  }

  /** The same with the defaults. */
  public <P> String submit(JobKind<P, ?> kind, P payload) {
    return submit(kind, payload, JobOrder.DEFAULT);
  }

  /**
   * Has all jobs sent again that the server has rejected, for example because it did not have their
   * type.
   *
   * @return how many
   */
  public int retryRejected() {
    int rows = table.retryRejected();
    relay.wake();
    return rows;
  }
}
