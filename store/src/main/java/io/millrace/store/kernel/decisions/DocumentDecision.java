package io.millrace.store.kernel.decisions;

import io.millrace.store.Bytes;
import io.millrace.store.Commit.Change;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.Outcome.Reason.Kind;
import io.millrace.store.StoreOptions.Ids;
import io.millrace.store.Throttling;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.kernel.state.Sizes;
import io.millrace.store.kernel.state.State;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The decision on the documents of a transaction. */
final class DocumentDecision {
  private final State state;
  private final Ids ids;
  private final RefusalReasons reasons;
  private final Map<String, Long> localIds;
  private final Transaction transaction;
  private final List<Change> changes;
  private final Set<DocumentKey> touched;
  private long growthBytes;

  DocumentDecision(
      State state,
      Ids ids,
      RefusalReasons reasons,
      Map<String, Long> localIds,
      Transaction transaction,
      List<Change> changes) {
    this.state = state;
    this.ids = ids;
    this.reasons = reasons;
    this.localIds = localIds;
    this.transaction = transaction;
    this.changes = changes;
    int named = transaction.puts().size() + transaction.documentDeletes().size();
    this.touched = HashSet.newHashSet(named);
  }

  /** By how many bytes the documents grow. */
  long growthBytes() {
    return growthBytes;
  }

  /** Adds changes and reasons. Uses versions from {@code firstId} on; returns the next free one. */
  long decide(long firstId) {
    long nextId = firstId;
    int place = 0;
    for (Transaction.Put put : transaction.puts()) {
      reasons.at("puts", place++, put.key());
      reasons.checkKey(put.key());
      Document old = state.document(put.key());
      boolean asExpected =
          put.expectedVersion() == DocumentVersion.ANY
              || expected(put.key(), put.expectedVersion(), old);
      once(put.key());
      Bytes body = put.template() ? fill(put) : put.body();
      reasons.checkData("body", put.key(), body.size());
      checkLimits(put.key(), body);
      if (asExpected) {
        Document document = new Document(put.key(), nextId, body);
        growthBytes += Sizes.of(document) - (old == null ? 0 : Sizes.of(old));
        changes.add(new Change.DocumentPut(old == null ? 0 : old.version(), document));
      }
      nextId = ids.after(nextId);
    }
    place = 0;
    for (DocumentVersion delete : transaction.documentDeletes()) {
      reasons.at("documentdeletes", place++, delete.key());
      reasons.checkKey(delete.key());
      once(delete.key());
      Document old = state.document(delete.key());
      if (delete.version() == DocumentVersion.ABSENT) {
        reasons.malformed("version 0 cannot be deleted: " + delete.key());
      } else if (expected(delete.key(), delete.version(), old) && old != null) {
        growthBytes -= Sizes.of(old);
        changes.add(new Change.DocumentDeleted(delete.key(), old.version()));
      }
    }
    place = 0;
    for (DocumentVersion depend : transaction.documentDepends()) {
      reasons.at("documentdepends", place++, depend.key());
      reasons.checkKey(depend.key());
      expected(depend.key(), depend.version(), state.document(depend.key()));
    }
    reasons.atNone();
    return nextId;
  }

  /** Limits must be readable, because claims observe them. */
  private void checkLimits(DocumentKey key, Bytes body) {
    if (Throttling.isSetBy(key)) {
      try {
        Throttling.read(key, body);
      } catch (IllegalArgumentException e) {
        reasons.malformed("limits in " + key + ": " + e.getMessage());
      }
    }
  }

  private void once(DocumentKey key) {
    if (!touched.add(key)) {
      reasons.malformed(key + " is changed twice");
    }
  }

  /** Whether the document has the expected version; adds a reason if it does not. */
  private boolean expected(DocumentKey key, long version, @Nullable Document found) {
    if (version < DocumentVersion.ANY) {
      reasons.malformed("version " + version + " of " + key + " is negative");
      return false;
    }
    long actual = found == null ? DocumentVersion.ABSENT : found.version();
    if (version == actual || (version == DocumentVersion.ANY && found != null)) {
      return true;
    }
    String expectation =
        switch ((int) Math.min(version, 1)) {
          case -1 -> "should exist";
          case 0 -> "should be absent";
          default -> "should have version " + version;
        };
    String fact = found == null ? "is absent" : "has version " + actual;
    reasons.add(Reason.of(Kind.VERSION_CONFLICT, key, key + " " + fact + " but " + expectation));
    return false;
  }

  /** The body with every {@code {{local name}}} replaced by the id of that task. */
  private Bytes fill(Transaction.Put put) {
    return Template.fill(
        put.body(),
        name -> {
          Long id = localIds.get(name);
          if (id == null) {
            reasons.malformed(put.key() + " refers to unknown local name " + name);
          }
          return String.valueOf(id);
        });
  }

  /**
   * Bodies with names in double braces. They are processed as bytes, which is fast and possible
   * because in UTF-8 the bytes of braces are part of no other character.
   */
  static final class Template {
    private Template() {}

    /** The body with every <code>{{name}}</code> replaced by the result of {@code value}. */
    static Bytes fill(Bytes body, UnaryOperator<String> value) {
      byte[] template = body.toArray();
      byte[] filled = new byte[template.length];
      int length = 0;
      int from = 0;
      while (true) {
        int open = find(template, '{', from);
        int close = open < 0 ? -1 : find(template, '}', open + 2);
        int until = close < 0 ? template.length : open;
        filled = withRoom(filled, length + until - from);
        System.arraycopy(template, from, filled, length, until - from);
        length += until - from;
        if (close < 0) {
          return Bytes.from(ByteBuffer.wrap(filled, 0, length));
        }
        String name = new String(template, open + 2, close - open - 2, StandardCharsets.UTF_8);
        byte[] named = value.apply(name).getBytes(StandardCharsets.UTF_8);
        filled = withRoom(filled, length + named.length);
        System.arraycopy(named, 0, filled, length, named.length);
        length += named.length;
        from = close + 2;
      }
    }

    /** The offset of the first double brace from {@code from} on, or -1. */
    private static int find(byte[] text, char brace, int from) {
      for (int i = from; i + 1 < text.length; i++) {
        if (text[i] == brace && text[i + 1] == brace) {
          return i;
        }
      }
      return -1;
    }

    private static byte[] withRoom(byte[] bytes, int length) {
      return length <= bytes.length
          ? bytes
          : Arrays.copyOf(bytes, Math.max(length, 2 * bytes.length));
    }
  }
}
