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

/** One member's connection to the documents, which a test can interrupt or delay. */
public final class FaultyDocuments implements VersionedDocuments {
  private final VersionedDocuments documents;
  private final ConcurrentHashMap<String, AtomicInteger> puts = new ConcurrentHashMap<>();
  private final CountDownLatch answers = new CountDownLatch(1);
  private volatile boolean cut;
  private volatile boolean hangs;

  /** Creates a working connection. */
  public FaultyDocuments(VersionedDocuments documents) {
    this.documents = documents;
  }

  /** Interrupts or restores the connection. */
  public void cut(boolean now) {
    cut = now;
  }

  /** Makes writes wait until {@link #answer} is called. */
  public void hang() {
    hangs = true;
  }

  /** Fails the waiting writes, and lets later ones succeed. */
  public void answer() {
    hangs = false;
    answers.countDown();
  }

  /** The number of writes of a document. */
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
