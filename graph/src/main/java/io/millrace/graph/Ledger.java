package io.millrace.graph;

import io.millrace.store.Document;
import io.millrace.store.DocumentQuery;
import io.millrace.store.Outcome;
import io.millrace.store.Owner;
import io.millrace.store.Reason;
import io.millrace.store.StoreException;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The documents of a graph. What is larger than a transaction still happens as one change: new
 * documents are written before the head that makes them count, and changes of old ones are written
 * down before it and carried out after it. Safe for use by threads that read.
 */
final class Ledger {
  private static final int PAGE = 1_000;
  private static final int ATTEMPTS = 100;
  private static final int SECRET_BYTES = 32;

  private final TaskStore store;
  private final Names names;
  private final Portion portion;
  private final Owner self;
  private final String writer;

  Ledger(TaskStore store, Names names, Portion portion) {
    this.store = store;
    this.names = names;
    this.portion = portion;
    this.self = Owner.client(names.client());
    this.writer = names.next();
  }

  /** What a change was committed by, to know it again. */
  String writer() {
    return writer;
  }

  Optional<NodeData> data(NodeId id) {
    return store.document(Keys.data(id)).value().map(NodeData::read);
  }

  /** The documents of a collection whose keys are greater, page by page. */
  void each(String collection, String after, Consumer<Document> look) {
    String last = after;
    List<Document> page;
    do {
      page = store.documents(new DocumentQuery(collection, "", last, PAGE)).value();
      for (Document document : page) {
        look.accept(document);
        last = document.key().key();
      }
    } while (page.size() == PAGE);
  }

  /**
   * The head at a start. Where there is none yet it comes with the first change, so that a server
   * whose graph nobody uses writes nothing.
   */
  Head open() {
    return store.document(Keys.HEAD).value().isPresent() ? take() : first();
  }

  private Head first() {
    return Head.first(names.bytes(SECRET_BYTES));
  }

  /**
   * The head as it is. Nothing that was sent before can change it any more: it is written again,
   * and so has another version.
   */
  Head take() {
    for (int i = 0; i < ATTEMPTS; i++) {
      Head head = store.document(Keys.HEAD).value().map(Head::read).orElseGet(this::first);
      Head taken = writeHead(begin(), head, head);
      if (taken != null) {
        return taken;
      }
    }
    throw new GraphException("the graph changes too fast; it was tried " + ATTEMPTS + " times");
  }

  /** Carries out what is written down, and deletes what never came to count. */
  Head tidy(Head taken) {
    Head head = finish(taken);
    List<Write> leftovers = new ArrayList<>();
    Consumer<Document> drop = document -> leftovers.add(new Write(document.key(), null));
    String last = Keys.padded(head.next() - 1);
    each(Keys.NODES, last, drop);
    each(Keys.DATA, last, drop);
    each(Keys.PENDING, "", drop);
    for (List<Write> part : portion.split(leftovers)) {
      require(commit(begin(part).depend(Keys.HEAD, head.document())));
    }
    return head;
  }

  /**
   * The head that a change goes by. The first change of all writes it, so that of two servers that
   * begin a graph only one gets on.
   *
   * @return null where somebody else was faster
   */
  @Nullable Head begun(Head head) {
    return head.document() > 0 ? head : writeHead(begin(), head, head);
  }

  /**
   * Commits a change.
   *
   * @param before the head that is stored, see {@link #begun}
   * @param fresh documents of nodes that are new with it
   * @param changes of other documents
   * @return the head after it; null where somebody else was faster and nothing has changed
   * @throws GraphFullException where the store has no room; nothing has changed
   * @throws StoreException where it may have happened or not, which {@link #take} tells
   */
  @Nullable Head commit(Head before, Head after, List<Write> fresh, List<Write> changes) {
    List<Write> first = new ArrayList<>(fresh);
    List<Write> last = changes;
    Head next = after;
    if (!portion.holds(changes)) {
      List<Write> packed = portion.pack(changes);
      first.addAll(packed);
      last = List.of();
      next = after.after(after.next(), after.version(), after.writer(), packed.size());
    }
    List<Write> together = new ArrayList<>(first);
    together.addAll(last);
    if (portion.holds(together)) {
      return writeHead(begin(together), before, next);
    }
    for (List<Write> part : portion.split(first)) {
      if (commit(begin(part).depend(Keys.HEAD, before.document())) == null) {
        return null;
      }
    }
    return writeHead(begin(last), before, next);
  }

  /** Spreads a change that is written down over its documents. */
  Head finish(Head head) {
    if (head.pending() == 0) {
      return head;
    }
    for (int i = 0; i < head.pending(); i++) {
      Document part = store.document(Keys.pending(i)).value().orElse(null);
      if (part != null) {
        require(
            commit(
                begin(Write.unpack(part))
                    .delete(part.key(), part.version())
                    .depend(Keys.HEAD, head.document())));
      }
    }
    Head done = writeHead(begin(), head, head.after(head.next(), head.version(), head.writer(), 0));
    return require(done);
  }

  private static <T> T require(@Nullable T done) {
    if (done == null) {
      throw new GraphException("another server is changing the graph");
    }
    return done;
  }

  private Transaction.Builder begin() {
    return Transaction.by(self);
  }

  private Transaction.Builder begin(List<Write> writes) {
    Transaction.Builder transaction = begin();
    writes.forEach(write -> write.addTo(transaction));
    return transaction;
  }

  /** Writes the head after whatever else is in the transaction; null where it has changed. */
  private @Nullable Head writeHead(Transaction.Builder transaction, Head before, Head after) {
    Outcome.Done done = commit(transaction.put(Keys.HEAD, before.document(), after.write()));
    return done == null ? null : after.stored(done.documents().getLast().version());
  }

  private Outcome.@Nullable Done commit(Transaction.Builder transaction) {
    return switch (store.commit(transaction.build())) {
      case Outcome.Done done -> done;
      case Outcome.Refused refused -> {
        boolean overtaken =
            refused.reasons().stream().anyMatch(it -> Keys.HEAD.equals(it.document()));
        if (!overtaken) {
          throw refusal(refused.reasons().getFirst());
        }
        yield null;
      }
    };
  }

  private static RuntimeException refusal(Reason reason) {
    return switch (reason.kind()) {
      case FULL -> new GraphFullException(reason.message());
      default -> new GraphException("the store does not take a change: " + reason.message());
    };
  }
}
