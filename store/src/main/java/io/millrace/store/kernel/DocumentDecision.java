package io.millrace.store.kernel;

import io.millrace.store.Bytes;
import io.millrace.store.Change;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Reason;
import io.millrace.store.Reason.Kind;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The part of a transaction that concerns documents. */
final class DocumentDecision {
  private final State state;
  private final Complaints complaints;
  private final Map<String, Long> localIds;
  private final Transaction transaction;
  private final List<Change> changes;
  private final Set<DocumentKey> touched;
  private long growthBytes;

  DocumentDecision(
      State state,
      Complaints complaints,
      Map<String, Long> localIds,
      Transaction transaction,
      List<Change> changes) {
    this.state = state;
    this.complaints = complaints;
    this.localIds = localIds;
    this.transaction = transaction;
    this.changes = changes;
    int named = transaction.puts().size() + transaction.documentDeletes().size();
    this.touched = HashSet.newHashSet(named);
  }

  /** By how much the documents grow. */
  long growthBytes() {
    return growthBytes;
  }

  /**
   * Adds changes and complaints; gives versions from {@code firstId} on and answers what follows.
   */
  long decide(long firstId) {
    long nextId = firstId;
    int place = 0;
    for (Transaction.Put put : transaction.puts()) {
      complaints.at("puts", place++, put.key());
      complaints.checkKey(put.key());
      Document old = state.document(put.key());
      boolean asExpected =
          put.expectedVersion() == DocumentVersion.ANY
              || expected(put.key(), put.expectedVersion(), old);
      once(put.key());
      Bytes body = put.template() ? fill(put) : put.body();
      complaints.checkData("body", put.key(), body.size());
      if (asExpected) {
        Document document = new Document(put.key(), nextId, body);
        growthBytes += Sizes.of(document) - (old == null ? 0 : Sizes.of(old));
        changes.add(new Change.DocumentPut(old == null ? 0 : old.version(), document));
      }
      nextId++;
    }
    place = 0;
    for (DocumentVersion delete : transaction.documentDeletes()) {
      complaints.at("documentdeletes", place++, delete.key());
      complaints.checkKey(delete.key());
      once(delete.key());
      Document old = state.document(delete.key());
      if (delete.version() == DocumentVersion.ABSENT) {
        complaints.malformed("version 0 cannot be deleted: " + delete.key());
      } else if (expected(delete.key(), delete.version(), old) && old != null) {
        growthBytes -= Sizes.of(old);
        changes.add(new Change.DocumentDeleted(delete.key(), old.version()));
      }
    }
    place = 0;
    for (DocumentVersion depend : transaction.documentDepends()) {
      complaints.at("documentdepends", place++, depend.key());
      complaints.checkKey(depend.key());
      expected(depend.key(), depend.version(), state.document(depend.key()));
    }
    complaints.atNone();
    return nextId;
  }

  private void once(DocumentKey key) {
    if (!touched.add(key)) {
      complaints.malformed(key + " is changed twice");
    }
  }

  /** Whether the document has the version expected; complains where it does not. */
  private boolean expected(DocumentKey key, long version, @Nullable Document found) {
    if (version < DocumentVersion.ANY) {
      complaints.malformed("version " + version + " of " + key + " is negative");
      return false;
    }
    long actual = found == null ? DocumentVersion.ABSENT : found.version();
    if (version == actual || (version == DocumentVersion.ANY && found != null)) {
      return true;
    }
    String expectation =
        switch ((int) Math.min(version, 1)) {
          case -1 -> "should be there";
          case 0 -> "should be absent";
          default -> "should have version " + version;
        };
    String fact = found == null ? "is absent" : "has version " + actual;
    complaints.add(Reason.of(Kind.VERSION_CONFLICT, key, key + " " + fact + " but " + expectation));
    return false;
  }

  /** The body with every {@code {{local name}}} replaced by the id that stands for it. */
  private Bytes fill(Transaction.Put put) {
    return Template.fill(
        put.body(),
        name -> {
          Long id = localIds.get(name);
          if (id == null) {
            complaints.malformed(put.key() + " refers to unknown local name " + name);
          }
          return String.valueOf(id);
        });
  }
}
