package io.millrace.spring.outbox;

import io.millrace.client.RejectedException;
import io.millrace.client.UnreachableException;
import io.millrace.client.jobs.JobClient;
import io.millrace.client.jobs.JobKind;
import io.millrace.client.jobs.JobOrder;
import io.millrace.spring.outbox.OutboxTable.Content;
import io.millrace.spring.outbox.OutboxTable.Row;
import io.millrace.store.StoreClosedException;
import io.millrace.work.Backoff;
import io.millrace.work.Step;
import io.millrace.work.StepLoop;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the jobs of the outbox to the server, in the order of their rows, and deletes the rows. Of
 * all relays of a database one sends at a time; the others look every second whether it is gone.
 * Step-driven; {@link #start} runs it on a thread of its own.
 *
 * <p>If the server cannot be reached, all rows wait, and the pauses between attempts grow to 30
 * seconds. A job that the server rejects (400, 409 or 413) is set aside with the reason in the
 * column {@code problem}, and the next ones are sent.
 */
public final class OutboxRelay implements Step, AutoCloseable {
  /** For how long a relay may send that does not renew its claim. */
  static final Duration LEASE = Duration.ofSeconds(30);

  /**
   * After this time a row whose outcome is unknown is not sent again. The server remembers request
   * ids for a day longer.
   */
  static final Duration RESEND_PERIOD = Duration.ofDays(6);

  private static final Logger LOG = LoggerFactory.getLogger(OutboxRelay.class);
  private static final int BATCH = 50;
  private static final Duration POLL = Duration.ofSeconds(1);
  private static final Duration MEASURE = Duration.ofSeconds(5);
  private static final Set<Integer> REJECTIONS = Set.of(400, 409, 413);

  private final OutboxTable table;
  private final JobClient client;
  private final InstantSource clock;
  private final String name = UUID.randomUUID().toString();
  private final Backoff backoff = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(30));
  private final AtomicLong sent = new AtomicLong();
  private final AtomicLong added = new AtomicLong();
  private final StepLoop loop;
  private volatile Content content = new Content(0, 0, 0);
  private volatile @Nullable String problem;
  private volatile boolean closing;
  private Instant measured = Instant.MIN;
  private Instant claimed = Instant.MIN;

  /** A relay that has not begun. */
  public OutboxRelay(OutboxTable table, JobClient client, InstantSource clock) {
    this.table = table;
    this.client = client;
    this.clock = clock;
    this.loop = new StepLoop(Thread.ofVirtual().name("millrace-outbox"), clock, this);
  }

  /** Starts to send. */
  public void start() {
    loop.start();
  }

  /** Has new rows sent soon. */
  void wake() {
    if (!backoff.hasFailed()) {
      loop.wake();
    }
  }

  /** Counts a row that a transaction adds. */
  void added() {
    added.incrementAndGet();
  }

  /** About how many rows wait: as last counted, and those added since. */
  long waiting() {
    return content.waiting() + added.get();
  }

  /** What the outbox held when it was last counted, at most five seconds ago. */
  public Content content() {
    return content;
  }

  /** How many jobs this relay has sent. */
  public long sent() {
    return sent.get();
  }

  /** Why the last attempt failed; null if it did not. */
  public @Nullable String problem() {
    return problem;
  }

  @Override
  public Instant step(Instant now) {
    try {
      if (!now.isBefore(measured.plus(MEASURE))) {
        measured = now;
        added.set(0);
        content = table.content();
      }
      boolean more = claim(now) && sendSome(now);
      if (backoff.succeeded()) {
        LOG.info("the outbox is sent again");
      }
      problem = null;
      return more ? now : now.plus(POLL);
    } catch (RuntimeException e) {
      if (!backoff.hasFailed()) {
        LOG.warn("the outbox cannot be sent now, trying again: {}", e.toString());
      }
      problem = String.valueOf(e.getMessage());
      return now.plus(backoff.next(ThreadLocalRandom.current()));
    }
  }

  private boolean claim(Instant now) {
    boolean held = table.claim(name, now.toEpochMilli(), now.plus(LEASE).toEpochMilli());
    claimed = held ? now : Instant.MIN;
    return held;
  }

  /** Whether this relay may still send. */
  private boolean mayGoOn() {
    Instant now = clock.instant();
    return !closing && (now.isBefore(claimed.plus(LEASE.dividedBy(3))) || claim(now));
  }

  /** Sends the first rows; whether there may be more. */
  private boolean sendSome(Instant now) {
    List<Row> rows = new ArrayList<>(table.first(BATCH));
    boolean full = rows.size() == BATCH;
    long oldest = now.minus(RESEND_PERIOD).toEpochMilli();
    rows.removeIf(row -> isTooOld(row, oldest));
    List<Long> fresh =
        new ArrayList<>(rows.stream().filter(row -> row.sentAt() == null).map(Row::id).toList());
    table.markSent(fresh, now.toEpochMilli());
    List<Long> done = new ArrayList<>();
    try {
      for (Row row : rows) {
        if (!mayGoOn()) {
          break;
        }
        if (send(row, fresh)) {
          done.add(row.id());
        }
        fresh.remove(row.id());
      }
    } finally {
      // Those that are left were not sent, or the server has said that nothing has come of it.
      table.delete(done);
      table.markSent(fresh, null);
    }
    return full && !closing;
  }

  /**
   * Sends a row. If it fails and the outcome is unknown, the row is not fresh any more.
   *
   * @return whether it was sent; otherwise it is set aside
   */
  private boolean send(Row row, List<Long> fresh) {
    try {
      client.submit(
          JobKind.of(row.type(), byte[].class), row.payload().toArray(), new JobOrder(row.order()));
      sent.incrementAndGet();
      return true;
    } catch (RejectedException e) {
      if (!REJECTIONS.contains(e.status())) {
        throw e;
      }
      LOG.error("the server rejects row {} of the outbox, set aside: {}", row.id(), e.getMessage());
      table.reject(row.id(), String.valueOf(e.getMessage()));
      return false;
    } catch (UnreachableException | StoreClosedException e) {
      throw e;
    } catch (RuntimeException | Error e) {
      fresh.remove(row.id());
      throw e;
    }
  }

  private boolean isTooOld(Row row, long oldestMillis) {
    boolean old = row.sentAt() != null && row.sentAt() < oldestMillis;
    if (old) {
      String reason =
          "it was sent more than "
              + RESEND_PERIOD.toDays()
              + " days ago, and it is not known whether that has made a job";
      LOG.error("row {} of the outbox is set aside: {}", row.id(), reason);
      table.reject(row.id(), reason);
    }
    return old;
  }

  /** Ends after the job that is being sent, and lets another relay go on. */
  @Override
  public void close() {
    closing = true;
    loop.close();
    try {
      table.release(name);
    } catch (RuntimeException e) {
      LOG.debug("the claim on the outbox is left to end by itself", e);
    }
  }
}
