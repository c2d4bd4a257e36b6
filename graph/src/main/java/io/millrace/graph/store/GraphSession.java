package io.millrace.graph.store;

import io.millrace.graph.GraphException;
import io.millrace.graph.GraphException.GraphFullException;
import io.millrace.graph.NodeId;
import io.millrace.graph.store.ValueStore.RandomNames;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.StoreException;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.work.StoreSession;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The documents of a graph. A change that is too large for one transaction is still atomic: new
 * documents are written before the head that makes them valid; changes of old documents are written
 * down before it and carried out after it. Safe for use by threads that read.
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
   * The document that describes the whole graph. Every change replaces the version that it has
   * read, so if two servers change a graph at once, only one succeeds.
   *
   * @param document the version of the stored document; 0 if there is none yet
   * @param next the id of the next node
   * @param version the version of the graph
   * @param writer the server that wrote this version of the graph
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

  /** The head as it is stored; one of an empty graph if there is none yet. */
  Head head() {
    return document(Keys.HEAD).map(Head::read).orElseGet(this::first);
  }

  private Head first() {
    return new Head(0, store().ids().base() + 1, 0, "", Bytes.copyOf(names.bytes(SECRET_BYTES)), 0);
  }

  /**
   * Reads the head and writes it again at a new version, so that no transaction sent earlier can
   * still change it.
   */
  Head take() {
    return retry(
        "the graph",
        () -> {
          Head head = head();
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
   * The head as stored. Writes the first one, so that if two servers begin a graph, only one
   * succeeds.
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
   * @param changes changes of other documents
   * @return the head after it; null if another server was faster and nothing has changed
   * @throws GraphFullException if the store has no room; nothing has changed
   * @throws StoreException if the outcome is unknown; {@link #take} tells it
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

  /**
   * Commits a change in one transaction with something else.
   *
   * @param joint adds to the transaction and commits it; null if something changed in between
   * @return the head after it; null if something changed in between and nothing was committed
   * @throws GraphFullException if it is too large for one transaction; nothing has changed
   */
  @Nullable Head commitWith(
      Head before,
      Head after,
      List<DocumentWrite> writes,
      Function<Transaction.Builder, Outcome.@Nullable Done> joint) {
    if (!limits.holds(writes)) {
      throw new GraphFullException("the nodes take more room than one transaction has");
    }
    Outcome.Done done = joint.apply(begin(writes).put(Keys.HEAD, before.document(), after.write()));
    return done == null ? null : written(done, after);
  }

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
    return done == null ? null : written(done, after);
  }

  /** The head with the version that a commit has given it. */
  private static Head written(Outcome.Done done, Head head) {
    long version =
        done.documents().stream()
            .filter(document -> document.key().equals(Keys.HEAD))
            .findFirst()
            .orElseThrow()
            .version();
    return new Head(
        version, head.next(), head.version(), head.writer(), head.secret(), head.pending());
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

  /**
   * A change of one document, whatever its version.
   *
   * @param key which document
   * @param body its content; null to delete it
   */
  record DocumentWrite(DocumentKey key, @Nullable Bytes body) {
    /** The bytes that a name, a version and the like take besides. */
    private static final int OVERHEAD = 64;

    int size() {
      return OVERHEAD + (body == null ? 0 : body.size());
    }

    void addTo(Transaction.Builder transaction) {
      if (body == null) {
        transaction.delete(key, DocumentVersion.ANY);
      } else {
        transaction.put(key, DocumentVersion.ANY, body);
      }
    }

    /** Packs several changes into one document. */
    static Bytes pack(List<DocumentWrite> writes) {
      ObjectNode json = Json.object();
      ArrayNode array = json.putArray("writes");
      for (DocumentWrite write : writes) {
        ObjectNode each = array.addObject();
        each.put("collection", write.key.collection());
        each.put("key", write.key.key());
        if (write.body != null) {
          each.set("body", Json.read(write.body.toArray()));
        }
      }
      return Json.write(json);
    }

    /** The changes that {@link #pack} has packed. */
    static List<DocumentWrite> unpack(Document document) {
      return Json.read(
          document,
          json -> {
            List<DocumentWrite> writes = new ArrayList<>();
            for (JsonNode each : json.required("writes")) {
              DocumentKey key =
                  new DocumentKey(
                      each.required("collection").asString(), each.required("key").asString());
              JsonNode body = each.get("body");
              writes.add(new DocumentWrite(key, body == null ? null : Json.write(body)));
            }
            return writes;
          });
    }
  }

  /**
   * The limits of one transaction.
   *
   * @param documents the most documents
   * @param bytes the most bytes of all documents
   * @param documentBytes the most bytes of a document that holds parts of others
   */
  record TransactionLimits(int documents, int bytes, int documentBytes) {
    /** Well below the default limits of a store. */
    static final TransactionLimits DEFAULT = new TransactionLimits(4_000, 8 << 20, 512 << 10);

    boolean holds(List<DocumentWrite> writes) {
      return writes.size() <= documents
          && writes.stream().mapToLong(DocumentWrite::size).sum() <= bytes;
    }

    /** Parts that each fit into a transaction, in order. */
    List<List<DocumentWrite>> split(List<DocumentWrite> writes) {
      return split(writes, bytes);
    }

    /** Documents from which all of these can be restored. */
    List<DocumentWrite> pack(List<DocumentWrite> writes) {
      // Names are written in full, so they take more room than in a transaction.
      List<List<DocumentWrite>> parts = split(writes, documentBytes / 2);
      List<DocumentWrite> packed = new ArrayList<>(parts.size());
      for (List<DocumentWrite> part : parts) {
        packed.add(new DocumentWrite(Keys.pending(packed.size()), DocumentWrite.pack(part)));
      }
      return packed;
    }

    private List<List<DocumentWrite>> split(List<DocumentWrite> writes, int most) {
      List<List<DocumentWrite>> parts = new ArrayList<>();
      List<DocumentWrite> part = new ArrayList<>();
      long size = 0;
      for (DocumentWrite write : writes) {
        if (!part.isEmpty() && (part.size() == documents || size + write.size() > most)) {
          parts.add(part);
          part = new ArrayList<>();
          size = 0;
        }
        part.add(write);
        size += write.size();
      }
      if (!part.isEmpty()) {
        parts.add(part);
      }
      return parts;
    }
  }
}
