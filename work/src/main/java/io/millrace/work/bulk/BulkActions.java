package io.millrace.work.bulk;

import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.work.StoreSession;
import io.millrace.work.bulk.BulkAction.Starter;
import io.millrace.work.bulk.BulkAction.State;
import io.millrace.work.bulk.BulkException.BatchTooLargeException;
import io.millrace.work.bulk.BulkException.BulkFullException;
import io.millrace.work.bulk.BulkException.BulkStateException;
import io.millrace.work.bulk.BulkException.InvalidBulkException;
import io.millrace.work.bulk.BulkException.NoBulkActionException;
import io.millrace.work.bulk.BulkTarget.Item;
import io.millrace.work.bulk.BulkTarget.Page;
import io.millrace.work.bulk.BulkTarget.Selection;
import io.millrace.work.filter.FilterException;
import io.millrace.work.filter.RelativeTimes;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;

/** The bulk actions of a store. Safe for use by any number of threads. */
public final class BulkActions {
  /** How many may be running. */
  static final int MAX_RUNNING = 20;

  /** How many of those that have ended are kept at most. */
  static final int MAX_ENDED = 1_000;

  /** How long those that have ended are kept. */
  static final Duration KEEP = Duration.ofDays(7);

  /** How many items are shown before the start. */
  private static final int SHOWN = 10;

  private static final int PAGE = 1_000;

  private final BulkSession session;
  private final List<BulkTarget<?>> targets;
  private final InstantSource clock;
  private final RandomGenerator random;

  private BulkActions(
      BulkSession session,
      List<BulkTarget<?>> targets,
      InstantSource clock,
      RandomGenerator random) {
    this.session = session;
    this.targets = List.copyOf(targets);
    this.clock = clock;
    this.random = random;
  }

  /**
   * The bulk actions of a store.
   *
   * @param targets the items that there are
   * @param random draws ids; used under a lock
   */
  public static BulkActions in(
      TaskStore store, List<BulkTarget<?>> targets, InstantSource clock, RandomGenerator random) {
    return new BulkActions(new BulkSession(store, random), targets, clock, random);
  }

  /** The store as bulk actions use it. */
  static final class BulkSession extends StoreSession {
    private static final String RUNNING = "bulk.running";
    private static final String ENDED = "bulk.ended";

    BulkSession(TaskStore store, RandomGenerator random) {
      super(store, random);
    }

    @Override
    protected RuntimeException refused(Reason reason) {
      return switch (reason.kind()) {
        case FULL -> new BulkFullException(reason.message());
        case TOO_LARGE -> new BatchTooLargeException(reason.message());
        default -> new BulkException(reason.message());
      };
    }

    @Override
    protected RuntimeException contended(String message) {
      return new BulkException(message);
    }

    static DocumentKey running(String id) {
      return new DocumentKey(RUNNING, id);
    }

    static DocumentKey ended(String id) {
      return new DocumentKey(ENDED, id);
    }

    /** Those that are running, oldest first. */
    List<BulkAction> running() {
      return all(RUNNING).stream().map(BulkAction::read).toList();
    }

    List<Document> ended() {
      return all(ENDED);
    }

    Optional<BulkAction> findRunning(String id) {
      return document(running(id)).map(BulkAction::read);
    }

    Optional<BulkAction> find(String id) {
      return document(running(id)).or(() -> document(ended(id))).map(BulkAction::read);
    }

    /** Adds the next state of an action to a transaction. */
    static void put(Transaction.Builder transaction, BulkAction next) {
      if (next.state() == State.RUNNING) {
        transaction.put(running(next.id()), next.version(), next.write());
      } else {
        transaction.delete(running(next.id()), next.version());
        transaction.put(ended(next.id()), DocumentVersion.ANY, next.write());
      }
    }
  }

  /** What can be done to which items. */
  public List<BulkTarget<?>> targets() {
    return targets;
  }

  /**
   * What a bulk action would change.
   *
   * @param order with absolute times and ids
   * @param total how many items it chooses now
   * @param examples the first of them
   */
  public record Preview(BulkOrder order, long total, List<Item> examples) {}

  /**
   * Counts the items that an order chooses.
   *
   * @param givesAll whether the caller says that all items are meant, without a filter
   * @throws InvalidBulkException if the order is invalid
   */
  public Preview preview(BulkOrder order, boolean givesAll) {
    Instant now = clock.instant();
    BulkOrder prepared = prepare(order, givesAll, now);
    return preview(target(prepared), prepared, now.toEpochMilli());
  }

  private static <I extends Item> Preview preview(
      BulkTarget<I> target, BulkOrder order, long nowMillis) {
    Selection<I> selection = target.select(order, nowMillis);
    List<Item> examples = new ArrayList<>();
    long total = 0;
    String after = "";
    Page<I> page;
    do {
      page = selection.page(after, PAGE);
      total += page.items().size();
      page.items().stream().limit(SHOWN - examples.size()).forEach(examples::add);
      after = page.after();
    } while (!page.isLast());
    return new Preview(order, total, examples);
  }

  private BulkOrder prepare(BulkOrder order, boolean givesAll, Instant now) {
    BulkTarget<?> target = target(order);
    if (!target.actions().contains(order.action())) {
      throw new InvalidBulkException(
          "the action for %s must be one of %s, not %s"
              .formatted(
                  order.kind(), String.join(", ", target.actions()), shortened(order.action())));
    }
    if (givesAll != order.filter().isEmpty()) {
      throw new InvalidBulkException(
          givesAll
              ? "all cannot be combined with a filter"
              : "an empty filter chooses everything; if that is meant, set all to true instead");
    }
    try {
      return target.prepare(order.with(RelativeTimes.resolve(order.filter(), now)));
    } catch (FilterException e) {
      throw new InvalidBulkException("filter: " + e.getMessage());
    }
  }

  private BulkTarget<?> target(BulkOrder order) {
    return targets.stream()
        .filter(target -> target.kind().equals(order.kind()))
        .findAny()
        .orElseThrow(() ->
            new InvalidBulkException(
                "kind must be one of %s, not %s"
                    .formatted(
                        String.join(", ", targets.stream().map(BulkTarget::kind).toList()),
                        shortened(order.kind()))));
  }

  private static String shortened(String text) {
    return text.length() > 60 ? text.substring(0, 60) + "…" : text;
  }

  /**
   * Starts a bulk action; a {@link #runner} carries it out.
   *
   * @param givesAll whether the caller says that all items are meant, without a filter
   * @throws InvalidBulkException if the order is invalid
   * @throws BulkStateException if too many are running
   */
  public BulkAction start(BulkOrder order, boolean givesAll, Starter starter) {
    if (session.running().size() >= MAX_RUNNING) {
      throw new BulkStateException(
          MAX_RUNNING + " bulk actions are running; wait for one of them, or cancel one");
    }
    Instant now = clock.instant();
    BulkOrder prepared = prepare(order, givesAll, now);
    Preview preview = preview(target(prepared), prepared, now.toEpochMilli());
    BulkAction action =
        new BulkAction(
            newId(now),
            prepared,
            starter,
            now.toEpochMilli(),
            preview.total(),
            State.RUNNING,
            BulkProgress.NONE,
            0,
            null,
            DocumentVersion.ABSENT);
    Outcome.Done done =
        session.tryCommit(
            session
                .begin()
                .put(BulkSession.running(action.id()), DocumentVersion.ABSENT, action.write())
                .build());
    if (done == null) {
      throw new BulkException("the id of a bulk action was taken");
    }
    return action.stored(done.documents().getFirst().version());
  }

  private String newId(Instant now) {
    synchronized (random) {
      return "%011x%05x".formatted(now.toEpochMilli(), random.nextInt(1 << 20));
    }
  }

  /** The bulk action of this id. */
  public Optional<BulkAction> find(String id) {
    return session.find(id);
  }

  /** All bulk actions that are running or kept, newest first. */
  public List<BulkAction> list() {
    List<BulkAction> all = new ArrayList<>(session.running());
    session.ended().forEach(document -> all.add(BulkAction.read(document)));
    all.sort(Comparator.comparing(BulkAction::id).reversed());
    return all;
  }

  /**
   * Ends a bulk action that is running; what it has changed stays changed.
   *
   * @throws NoBulkActionException if there is none
   * @throws BulkStateException if it has ended
   */
  public BulkAction cancel(String id) {
    return session.retry(
        "bulk action " + id,
        () -> {
          BulkAction action = existing(id);
          if (action.state() != State.RUNNING) {
            throw new BulkStateException("bulk action " + id + " is " + action.state().word());
          }
          BulkAction ended = action.ended(State.CANCELLED, clock.millis(), null);
          Transaction.Builder transaction = session.begin();
          BulkSession.put(transaction, ended);
          return session.tryCommit(transaction.build()) == null ? null : ended;
        });
  }

  /**
   * Forgets a bulk action that has ended.
   *
   * @throws NoBulkActionException if there is none
   * @throws BulkStateException if it is running
   */
  public void delete(String id) {
    BulkAction action = existing(id);
    if (action.state() == State.RUNNING) {
      throw new BulkStateException("bulk action " + id + " is running; cancel it first");
    }
    session.commit(session.begin().delete(BulkSession.ended(id), DocumentVersion.ANY).build());
  }

  private BulkAction existing(String id) {
    return find(id).orElseThrow(() -> new NoBulkActionException(id));
  }

  /**
   * What carries out bulk actions; to be woken after each start. Step-driven; there may be several
   * for one store.
   */
  public BulkRunner runner(BulkRunner.Listener listener) {
    return new BulkRunner(session, targets, listener);
  }
}
