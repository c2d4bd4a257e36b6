package io.millrace.cluster.remote.dispatch;

import io.millrace.cluster.documents.UnclearOutcomeException;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import java.util.List;
import java.util.Optional;

/** Documents with hooks before changes. */
public final class HookedDocuments implements VersionedDocuments {
  private final VersionedDocuments documents;
  private Runnable beforeDeletion = () -> {};
  private String losesAnswersOf = "-";

  /** Wraps documents, without hooks for now. */
  public HookedDocuments(VersionedDocuments documents) {
    this.documents = documents;
  }

  /** Runs an action once, right before the next deletion. */
  public void beforeDeletion(Runnable what) {
    beforeDeletion = what;
  }

  /** Loses the responses to changes of documents with this prefix; the changes are made. */
  public void loseAnswersOf(String prefix) {
    losesAnswersOf = prefix;
  }

  @Override
  public Optional<VersionedDocument> get(String key) {
    return documents.get(key);
  }

  @Override
  public Optional<Version> put(String key, Version expected, String json) {
    return answer(key, documents.put(key, expected, json));
  }

  @Override
  public boolean delete(String key, Version expected) {
    Runnable hook = beforeDeletion;
    beforeDeletion = () -> {};
    hook.run();
    return answer(key, documents.delete(key, expected));
  }

  private <T> T answer(String key, T answer) {
    if (key.startsWith(losesAnswersOf)) {
      throw new UnclearOutcomeException("the answer is lost");
    }
    return answer;
  }

  @Override
  public List<VersionedDocument> list(String prefix) {
    return documents.list(prefix);
  }

  @Override
  public void close() {
    documents.close();
  }
}
