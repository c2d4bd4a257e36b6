package io.millrace.graph.store;

import io.millrace.graph.GraphException;
import io.millrace.graph.GraphException.GraphFullException;
import io.millrace.graph.NodeId;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.StoreException;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.work.StoreSession;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * The documents of a graph. A change that is too large for a transaction still happens as one: new
 * documents are written before the head that makes them count; changes of old ones are written down
 * before it and carried out after it. Safe for use by threads that read.
 */
final class GraphSession extends StoreSession {
  private static final int SECRET_BYTES = 32;

  private final RandomNames names;
  private final TransactionLimits limits;
  private final String writer;

  GraphSession(TaskStore store, RandomNames names, TransactionLimits limits) {
    super(store, names.random());
    this.names = names;
    this.limits = limits;
    this.writer = names.next();
  }

  /**
   * The document that describes the whole graph. Every change writes it at the version that it had,
   * so of two servers that change a graph at once only one succeeds.
   *
   * @param document the version of the stored document; 0 if there is none yet
   * @param next the id of the next node
   * @param version the version of the graph
   * @param writer which server wrote that version of the graph
   * @param secret known to the servers of this graph only
   * @param pending the number of documents with writes that belong to the last change and are not
   *     carried out yet
   */
  record Head(long document, long next, long version, String writer, Bytes secret, int pending) {
    private static Head read(Document document) {
      return Json.read(
          document,
          json ->
              new Head(
                  document.version(),
                  json.required("next").asLong(),
                  json.required("version").asLong(),
                  json.required("writer").asString(),
                  Bytes.copyOf(Base64.getDecoder().decode(json.required("secret").asString())),
                  json.path("pending").asInt(0)));
    }

    private Bytes write() {
      ObjectNode json = Json.object();
      json.put("next", next);
      json.put("version", version);
      json.put("writer", writer);
      json.put("secret", Base64.getEncoder().encodeToString(secret.toArray()));
      if (pending > 0) {
        json.put("pending", pending);
      }
      return Json.write(json);
    }

    /** The head after a change. */
    Head after(long newNext, long newVersion, String by) {
      return new Head(document, newNext, newVersion, by, secret, pending);
    }

    private Head withPending(int parts) {
      return new Head(document, next, version, writer, secret, parts);
    }

    /** Without the secret. */
    @Override
    public String toString() {
      return "head of version " + version + " by " + writer + ", next id " + next;
    }
  }

  @Override
  protected RuntimeException refused(Reason reason) {
    return reason.kind() == Reason.Kind.FULL
        ? new GraphFullException(reason.message())
        : new GraphException("the store does not take a change: " + reason.message());
  }

  @Override
  protected RuntimeException contended(String message) {
    return new GraphException(message);
  }

  /** The writer of the changes that this session commits. */
  String writer() {
    return writer;
  }

  /** The data of a node. */
  NodeData data(NodeId id) {
    return document(Keys.data(id)).map(NodeData::read).orElse(NodeData.EMPTY);
  }

  /**
   * The head at the start. If there is none yet, it is written with the first change, so that a
   * server whose graph is not used writes nothing.
   */
  Head open() {
    return document(Keys.HEAD).isPresent() ? take() : first();
  }

  private Head first() {
    return new Head(0, 1, 0, "", Bytes.copyOf(names.bytes(SECRET_BYTES)), 0);
  }

  /**
   * Reads the head and writes it again at a new version, so that no transaction sent earlier can
   * still change it.
   */
  Head take() {
    return retry(
        "the graph",
        () -> {
          Head head = document(Keys.HEAD).map(Head::read).orElseGet(this::first);
          return writeHead(begin(), head, head);
        });
  }

  /** Carries out pending writes, and deletes documents of changes that did not happen. */
  Head tidy(Head taken) {
    Head head = finish(taken);
    List<DocumentWrite> leftovers = new ArrayList<>();
    String last = Keys.padded(head.next() - 1);
    for (Iterable<Document> documents :
        List.of(
            pages(Keys.NODES, "", last), pages(Keys.DATA, "", last), pages(Keys.PENDING, "", ""))) {
      documents.forEach(document -> leftovers.add(new DocumentWrite(document.key(), null)));
    }
    for (List<DocumentWrite> part : limits.split(leftovers)) {
      require(commit(begin(part).depend(Keys.HEAD, head.document())));
    }
    return head;
  }

  /**
   * The head as stored; writes the very first one, so that of two servers that begin a graph only
   * one succeeds.
   *
   * @return null if another server was faster
   */
  @Nullable Head begun(Head head) {
    return head.document() > 0 ? head : writeHead(begin(), head, head);
  }

  /**
   * Commits a change.
   *
   * @param before the stored head, see {@link #begun}
   * @param fresh documents of new nodes
   * @param changes of other documents
   * @return the head after it; null if another server was faster and nothing has changed
   * @throws GraphFullException if the store has no room; nothing has changed
   * @throws StoreException if it may have happened or not, which {@link #take} tells
   */
  @Nullable Head commit(
      Head before, Head after, List<DocumentWrite> fresh, List<DocumentWrite> changes) {
    List<DocumentWrite> first = new ArrayList<>(fresh);
    List<DocumentWrite> last = changes;
    Head next = after;
    if (!limits.holds(changes)) {
      List<DocumentWrite> packed = limits.pack(changes);
      first.addAll(packed);
      last = List.of();
      next = after.withPending(packed.size());
    }
    List<DocumentWrite> together = new ArrayList<>(first);
    together.addAll(last);
    if (limits.holds(together)) {
      return writeHead(begin(together), before, next);
    }
    for (List<DocumentWrite> part : limits.split(first)) {
      if (commit(begin(part).depend(Keys.HEAD, before.document())) == null) {
        return null;
      }
    }
    return writeHead(begin(last), before, next);
  }

  /** Carries out pending writes. */
  Head finish(Head head) {
    if (head.pending() == 0) {
      return head;
    }
    for (int i = 0; i < head.pending(); i++) {
      Document part = document(Keys.pending(i)).orElse(null);
      if (part != null) {
        require(
            commit(
                begin(DocumentWrite.unpack(part))
                    .delete(part.key(), part.version())
                    .depend(Keys.HEAD, head.document())));
      }
    }
    return require(writeHead(begin(), head, head.withPending(0)));
  }

  private static <T> T require(@Nullable T done) {
    if (done == null) {
      throw new GraphException("another server is changing the graph");
    }
    return done;
  }

  private Transaction.Builder begin(List<DocumentWrite> writes) {
    Transaction.Builder transaction = begin();
    writes.forEach(write -> write.addTo(transaction));
    return transaction;
  }

  /** Writes the head as the last document of a transaction; null if it has changed. */
  private @Nullable Head writeHead(Transaction.Builder transaction, Head before, Head after) {
    Outcome.Done done = commit(transaction.put(Keys.HEAD, before.document(), after.write()));
    return done == null
        ? null
        : new Head(
            done.documents().getLast().version(),
            after.next(),
            after.version(),
            after.writer(),
            after.secret(),
            after.pending());
  }

  private Outcome.@Nullable Done commit(Transaction.Builder transaction) {
    Outcome outcome = store().commit(transaction.build());
    return switch (outcome) {
      case Outcome.Done done -> done;
      case Outcome.Refused refused
          when refused.reasons().stream().anyMatch(it -> Keys.HEAD.equals(it.document())) ->
          null;
      case Outcome.Refused refused -> throw refused(refused.reasons().getFirst());
    };
  }
}
