package io.millrace.queues;

import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.DocumentQuery;
import io.millrace.store.Limits;
import io.millrace.store.Outcome;
import io.millrace.store.Owner;
import io.millrace.store.Reason;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import java.time.InstantSource;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** The store as the registries of queues use it, with a clock and ids. Safe for use by threads. */
final class Ledger {
  private static final int ATTEMPTS = 100;

  /** What is kept of a task beside its params: node, times, reason, and output where it fits. */
  private static final long BESIDE_PARAMS_BYTES = 8 << 10;

  private static final Set<Reason.Kind> CLAIM_LOST =
      EnumSet.of(
          Reason.Kind.MISSING_UPDATE,
          Reason.Kind.MISSING_DELETE,
          Reason.Kind.MISSING_DEPEND,
          Reason.Kind.OWNED_BY_ANOTHER,
          Reason.Kind.LEASE_ENDED);

  private final TaskStore store;
  private final InstantSource clock;
  private final RandomGenerator random;
  private final ObjectIds ids;
  private final Owner self;
  private final long paramsBytes;

  Ledger(TaskStore store, InstantSource clock, RandomGenerator random) {
    this(store, clock, random, Limits.defaults().dataBytes());
  }

  /** With the most bytes that the store takes as the body of a document. */
  Ledger(TaskStore store, InstantSource clock, RandomGenerator random, long documentBytes) {
    this.paramsBytes = documentBytes - Math.min(BESIDE_PARAMS_BYTES, documentBytes / 2);
    this.store = store;
    this.clock = clock;
    this.random = random;
    this.ids = new ObjectIds(clock, random);
    this.self = Owner.client(newClient());
  }

  TaskStore store() {
    return store;
  }

  long nowMillis() {
    return clock.millis();
  }

  ObjectId newId() {
    return ids.next();
  }

  /** The most bytes of JSON that the params of a task have. */
  long paramsBytes() {
    return paramsBytes;
  }

  /** A client id that nobody else has. */
  long newClient() {
    synchronized (random) {
      return random.nextLong(1, 1L << 53);
    }
  }

  /** A transaction of this process, which owns no tasks. */
  Transaction.Builder transaction() {
    return Transaction.by(self);
  }

  Optional<Document> document(DocumentKey key) {
    return store.document(key).value();
  }

  List<Document> documents(String collection) {
    return store.documents(DocumentQuery.prefix(collection, "")).value();
  }

  /**
   * Commits on behalf of a claim.
   *
   * @return the answer; null where a document changed meanwhile, so that a new look is due
   * @throws LostClaimException where the claim is not alive any more or its task is gone
   */
  Outcome.@Nullable Done commitFor(Run run, Transaction transaction) {
    Outcome outcome = store.commit(transaction);
    if (outcome instanceof Outcome.Refused refused
        && refused.reasons().stream().anyMatch(reason -> CLAIM_LOST.contains(reason.kind()))) {
      throw lost(run);
    }
    return settled(outcome);
  }

  /** The run of this claim as it is now. */
  Run own(Run run) {
    return document(Keys.run(run.task()))
        .map(RunForm::read)
        .filter(now -> now.claim().equals(run.claim()))
        .orElseThrow(() -> lost(run));
  }

  /** The task of a run as it is now. */
  QueueTask taskOf(Run run) {
    return document(Keys.task(run.task())).map(TaskForm::read).orElseThrow(() -> lost(run));
  }

  static LostClaimException lost(Run run) {
    return new LostClaimException("the claim on task " + run.task() + " is lost");
  }

  /**
   * Commits, and says how it went.
   *
   * @return the answer; null where something changed meanwhile, so that a new look is due
   * @throws StoreFullException where the store has no room for it now
   * @throws InvalidRequestException where the store would never take it
   */
  Outcome.@Nullable Done commit(Transaction transaction) {
    return settled(store.commit(transaction));
  }

  private static Outcome.@Nullable Done settled(Outcome outcome) {
    return switch (outcome) {
      case Outcome.Done done -> done;
      case Outcome.Refused refused -> {
        for (Reason reason : refused.reasons()) {
          switch (reason.kind()) {
            case MISSING_UPDATE,
                MISSING_DELETE,
                MISSING_DEPEND,
                OWNED_BY_ANOTHER,
                LEASE_ENDED,
                NOT_WAITING,
                VERSION_CONFLICT -> {}
            case FULL -> throw new StoreFullException(reason.message());
            case TOO_LARGE ->
                throw new InvalidRequestException(
                    "", "this is too large to be kept; store.max-data-bytes is the limit");
            case MALFORMED, REQUEST_ID_REUSED ->
                throw new InvalidRequestException("", reason.message());
          }
        }
        yield null;
      }
    };
  }

  /** One look and one commit. */
  interface Attempt<T> {
    /** What came of it; null where something changed in between. */
    @Nullable T make();
  }

  /** One commit on what was found. */
  interface Change<F, T> {
    /** What came of it; null where something changed in between. */
    @Nullable T make(F found);
  }

  /** Looks for something and changes it, until nothing came in between; empty where it is gone. */
  <F, T> Optional<T> insist(String what, Supplier<Optional<F>> look, Change<F, T> change) {
    for (int i = 0; i < ATTEMPTS; i++) {
      Optional<F> found = look.get();
      if (found.isEmpty()) {
        return Optional.empty();
      }
      T result = change.make(found.get());
      if (result != null) {
        return Optional.of(result);
      }
    }
    throw tooFast(what);
  }

  private static QueuesException tooFast(String what) {
    return new QueuesException(what + " changes too fast; it was tried " + ATTEMPTS + " times");
  }

  /** Looks and commits until nothing came in between. */
  <T> T insist(String what, Attempt<T> attempt) {
    for (int i = 0; i < ATTEMPTS; i++) {
      T result = attempt.make();
      if (result != null) {
        return result;
      }
    }
    throw tooFast(what);
  }
}
