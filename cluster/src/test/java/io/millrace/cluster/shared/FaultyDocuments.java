package io.millrace.cluster.shared;

import io.millrace.cluster.documents.DocumentsUnavailableException;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** One member's way to the documents, which may be cut, or take as long as the test likes. */
public final class FaultyDocuments implements VersionedDocuments {
  private final VersionedDocuments documents;
  private final ConcurrentHashMap<String, AtomicInteger> puts = new ConcurrentHashMap<>();
  private final CountDownLatch answers = new CountDownLatch(1);
  private volatile boolean cut;
  private volatile boolean hangs;

  /** All comes through. */
  public FaultyDocuments(VersionedDocuments documents) {
    this.documents = documents;
  }

  /** Nothing comes through from now on, or everything again. */
  public void cut(boolean now) {
    cut = now;
  }

  /** Writes have no answer from now on, until {@link #answer}. */
  public void hang() {
    hangs = true;
  }

  /** Writes fail now, and next ones come through. */
  public void answer() {
    hangs = false;
    answers.countDown();
  }

  /** How often a document was written. */
  public int puts(String key) {
    return puts.computeIfAbsent(key, _ -> new AtomicInteger()).get();
  }

  private <T> T send(Supplier<T> request) {
    if (cut) {
      throw new DocumentsUnavailableException("cut off");
    }
    return request.get();
  }

  @Override
  public Optional<VersionedDocument> get(String key) {
    return send(() -> documents.get(key));
  }

  @Override
  public Optional<Version> put(String key, Version expected, String json) {
    if (hangs) {
      try {
        answers.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      throw new DocumentsUnavailableException("no answer");
    }
    puts.computeIfAbsent(key, _ -> new AtomicInteger()).incrementAndGet();
    return send(() -> documents.put(key, expected, json));
  }

  @Override
  public boolean delete(String key, Version expected) {
    return send(() -> documents.delete(key, expected));
  }

  @Override
  public List<VersionedDocument> list(String prefix) {
    return send(() -> documents.list(prefix));
  }

  @Override
  public void close() {
    documents.close();
  }
}
