package io.millrace.cluster.leader;

import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.membership.MemberContext;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Deletes documents of one prefix that are not needed, once they have been unneeded and unchanged
 * for lease and margin. Lists them once per lease. Used by one thread.
 */
public final class AbandonedDocuments {
  private final MemberContext context;
  private final String prefix;
  private final Map<String, Seen> abandoned = new HashMap<>();
  private long nextMillis = Long.MIN_VALUE;

  private record Seen(Version version, long sinceMillis) {}

  /** Sweeps documents whose keys begin with a prefix. */
  public AbandonedDocuments(MemberContext context, String prefix) {
    this.context = context;
    this.prefix = prefix;
  }

  /** Forgets what was seen; the next call lists the documents. */
  public void clear() {
    abandoned.clear();
    nextMillis = Long.MIN_VALUE;
  }

  /**
   * Deletes abandoned documents, if a sweep is due.
   *
   * @param isNeeded whether the document with a key is needed
   */
  public void sweep(Guard guard, Predicate<String> isNeeded) {
    long now = context.now();
    if (now < nextMillis) {
      return;
    }
    nextMillis = now + context.leaseMillis();
    List<VersionedDocument> found =
        context.documents().list(prefix).stream()
            .filter(document -> !isNeeded.test(document.key()))
            .toList();
    abandoned
        .keySet()
        .retainAll(found.stream().map(VersionedDocument::key).collect(Collectors.toSet()));
    for (VersionedDocument document : found) {
      Seen before = abandoned.get(document.key());
      if (before == null || !before.version().equals(document.version())) {
        abandoned.put(document.key(), new Seen(document.version(), now));
      } else if (now - before.sinceMillis() >= context.terms().takeoverMillis()) {
        guard.check();
        context.documents().delete(document.key(), document.version());
      }
    }
  }
}
