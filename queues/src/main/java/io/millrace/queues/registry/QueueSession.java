package io.millrace.queues.registry;

import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueueTask.Place;
import io.millrace.queues.QueuesException;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.QueuesException.LostClaimException;
import io.millrace.queues.QueuesException.StoreFullException;
import io.millrace.queues.Run;
import io.millrace.store.Bytes;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.Add;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.Transaction.Put;
import io.millrace.store.Transaction.When;
import io.millrace.work.StoreSession;
import java.time.InstantSource;
import java.util.EnumSet;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** The store as the registries of queues use it, with a clock and ids. Safe for use by threads. */
final class QueueSession extends StoreSession {
  /**
   * Room for all that is stored of a task besides its params: node, times, reason, and short
   * output.
   */
  private static final long BESIDE_PARAMS_BYTES = 8 << 10;

  private static final Set<Reason.Kind> CLAIM_LOST =
      EnumSet.of(
          Reason.Kind.MISSING_UPDATE,
          Reason.Kind.MISSING_DELETE,
          Reason.Kind.MISSING_DEPEND,
          Reason.Kind.OWNED_BY_ANOTHER,
          Reason.Kind.LEASE_ENDED);

  private final InstantSource clock;
  private final RandomGenerator random;
  private final ObjectId.Generator ids;
  private final long paramsBytes;

  QueueSession(TaskStore store, InstantSource clock, RandomGenerator random) {
    this(store, clock, random, Limits.defaults().dataBytes());
  }

  /** Uses a store that takes documents of up to this many bytes. */
  QueueSession(TaskStore store, InstantSource clock, RandomGenerator random, long documentBytes) {
    super(store, random);
    this.paramsBytes = documentBytes - Math.min(BESIDE_PARAMS_BYTES, documentBytes / 2);
    this.clock = clock;
    this.random = random;
    this.ids = new ObjectId.Generator(clock, random, store.ids());
  }

  @Override
  protected RuntimeException refused(Reason reason) {
    return switch (reason.kind()) {
      case FULL -> new StoreFullException(reason.message());
      case TOO_LARGE ->
          new InvalidRequestException(
              "", "this is too large to be kept; store.max-data-bytes is the limit");
      default -> new InvalidRequestException("", reason.message());
    };
  }

  @Override
  protected RuntimeException contended(String message) {
    return new QueuesException(message);
  }

  long nowMillis() {
    return clock.millis();
  }

  /** Drawn at random. */
  long seed() {
    synchronized (random) {
      return random.nextLong();
    }
  }

  ObjectId newId() {
    return ids.next();
  }

  /** The most bytes of JSON in the params of a task. */
  long paramsBytes() {
    return paramsBytes;
  }

  /**
   * Begins a transaction that writes the document of a queue or node, and replaces the kernel task
   * that stands for its definition: a claim that depends on that task was made with the current
   * settings.
   *
   * @param name the name of the definition
   * @param old the place of the document and the task; null if there are none yet
   * @param body the document, which refers to the new task as {@link Queue#ADDED}
   */
  Transaction.Builder redefine(DocumentKey key, String name, @Nullable Place old, Bytes body) {
    Transaction.Builder transaction =
        begin()
            .add(new Add("queues/definitions", Bytes.of(name), When.now(), false, Queue.ADDED))
            .put(new Put(key, old == null ? DocumentVersion.ABSENT : old.version(), body, true));
    return old == null ? transaction : transaction.delete(old.byId());
  }

  /**
   * Commits on behalf of a claim.
   *
   * @return the answer; null if a document has changed meanwhile, so that another attempt is due
   * @throws LostClaimException if the claim has ended or its task is gone
   */
  Outcome.@Nullable Done commitFor(Run run, Transaction transaction) {
    Outcome outcome = store().commit(transaction);
    if (outcome instanceof Outcome.Refused refused
        && refused.reasons().stream().anyMatch(reason -> CLAIM_LOST.contains(reason.kind()))) {
      throw lost(run);
    }
    return check(outcome) instanceof Outcome.Done done ? done : null;
  }

  /** The run of this claim as it is now. */
  Run own(Run run) {
    return document(Keys.run(run.task()))
        .map(Run::read)
        .filter(now -> now.claim().equals(run.claim()))
        .orElseThrow(() -> lost(run));
  }

  /** The task of a run as it is now. */
  QueueTask taskOf(Run run) {
    return document(Keys.task(run.task())).map(QueueTask::read).orElseThrow(() -> lost(run));
  }

  static LostClaimException lost(Run run) {
    return new LostClaimException("the claim on task " + run.task() + " is lost");
  }
}
