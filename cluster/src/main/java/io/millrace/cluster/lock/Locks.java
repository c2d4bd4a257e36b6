package io.millrace.cluster.lock;

import io.millrace.cluster.documents.DocumentsUnavailableException;
import io.millrace.cluster.documents.UnclearOutcomeException;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import java.util.Optional;

/**
 * The writes by which one member takes, renews and releases locks. It does not decide whether a
 * lock may be taken; {@link ObservedLocks} does. Thread-safe, as long as no two threads try to take
 * the same lock at the same time.
 *
 * <p>Every method throws {@link DocumentsUnavailableException} if nothing was written, and {@link
 * UnclearOutcomeException} if that is not known. After an exception the caller holds nothing.
 */
public final class Locks {
  private static final int ATTEMPTS = 3;

  private final VersionedDocuments documents;
  private final FenceAllocator fences;
  private final String token;
  private final LeaseTerms terms;
  private final MemberClock clock;
  private long lastExpires;

  /**
   * The locks of one member.
   *
   * @param token identifies the member, such as a random UUID
   */
  public Locks(VersionedDocuments documents, String token, LeaseTerms terms, MemberClock clock) {
    this.documents = documents;
    this.fences = new FenceAllocator(documents);
    this.token = token;
    this.terms = terms;
    this.clock = clock;
  }

  /**
   * A lock that its holder knows to be held.
   *
   * @param key the lock's key
   * @param lock what the holder wrote
   * @param version the version of the document that this gave
   * @param untilMillis when the lease ends, by the holder's monotonic clock
   * @param renewMillis when to renew it, by the holder's monotonic clock
   */
  public record HeldLock(
      String key, LockDocument lock, Version version, long untilMillis, long renewMillis) {
    /** The fencing token. */
    public long fence() {
      return lock.fence();
    }
  }

  VersionedDocuments documents() {
    return documents;
  }

  MemberClock clock() {
    return clock;
  }

  LeaseTerms terms() {
    return terms;
  }

  /** The token of the member. */
  public String token() {
    return token;
  }

  /**
   * Creates the document of a lock that has none, and holds it.
   *
   * @return the lock, or empty if another member was faster
   */
  public Optional<HeldLock> create(String key) {
    return acquire(key, Version.NONE, new LockDocument("", 0, fences.reserve(1), null));
  }

  /**
   * Reserves fences for documents that {@link #createPartition} is to create.
   *
   * @return the fence that the first of them begins with; each next one is {@link
   *     #fencesPerPartition} higher
   */
  public long reserve(int documents) {
    return fences.reserve(documents);
  }

  /** The number of fences that are reserved for each document. */
  public static long fencesPerPartition() {
    return FenceAllocator.BLOCK;
  }

  /**
   * Creates the document of a partition, which no member holds yet.
   *
   * @param fence one that was reserved for it
   * @return whether it exists now; false if there was another document of that key
   */
  public boolean createPartition(String key, LockDocument.Task task, long fence) {
    return write(key, Version.NONE, new LockDocument("", 0, fence, task)).isPresent();
  }

  /**
   * Takes a lock that may be taken.
   *
   * @param document its state as it was seen
   * @return the lock, or empty if it has another state by now
   */
  public Optional<HeldLock> take(VersionedDocument document) {
    return acquire(document.key(), document.version(), LockDocument.read(document));
  }

  private Optional<HeldLock> acquire(String key, Version expected, LockDocument before) {
    long fence = fences.after(before.fence());
    long sent = clock.monotonicMillis();
    LockDocument taken = before.taken(token, expires(), fence);
    return write(key, expected, taken).map(version -> held(key, taken, version, sent));
  }

  /**
   * Renews a lease. A lease that has ended is not renewed, whatever its document says.
   *
   * @return the renewed lease; empty if it is lost
   */
  public Optional<HeldLock> renew(HeldLock held) {
    long sent = clock.monotonicMillis();
    if (sent >= held.untilMillis()) {
      return Optional.empty();
    }
    LockDocument renewed = held.lock().renewed(expires());
    return change(held, renewed)
        .filter(version -> clock.monotonicMillis() < held.untilMillis())
        .map(version -> held(held.key(), renewed, version, sent));
  }

  /** Releases a lock, so that any member may take it at once; returns whether it was still held. */
  public boolean release(HeldLock held) {
    return change(held, held.lock().released()).isPresent();
  }

  /** Marks a partition as done and releases it; returns whether it was still held. */
  public boolean finish(HeldLock held) {
    return change(held, held.lock().done()).isPresent();
  }

  /**
   * Writes a lock that this member holds, by its holder and fence. Its version may be newer than
   * the known one if an earlier write took effect after all, possibly an attempt of this one.
   */
  private Optional<Version> change(HeldLock held, LockDocument next) {
    Optional<Version> version = write(held.key(), held.version(), next);
    if (version.isPresent()) {
      return version;
    }
    Optional<VersionedDocument> found = documents.get(held.key());
    if (found.isEmpty()) {
      return Optional.empty();
    }
    LockDocument now = LockDocument.read(found.get());
    if (now.equals(next)) {
      return Optional.of(found.get().version());
    }
    return isOurs(now, held) ? write(held.key(), found.get().version(), next) : Optional.empty();
  }

  private boolean isOurs(LockDocument lock, HeldLock held) {
    return lock.holder().equals(token) && lock.fence() == held.fence() && !lock.isReleased();
  }

  /**
   * Writes a lock's document at a version, and resolves unclear outcomes. No two writes have the
   * same content, since it names the writer by token, fence and expiry; so if the document has this
   * content at a newer version, this call has written it.
   *
   * @return the version with this content, or empty if another member was faster
   * @throws UnclearOutcomeException if the last of several attempts is still unclear
   */
  private Optional<Version> write(String key, Version expected, LockDocument lock) {
    String json = lock.json();
    UnclearOutcomeException unclear = null;
    for (int i = 0; i < ATTEMPTS; i++) {
      try {
        Optional<Version> written = documents.put(key, expected, json);
        if (written.isPresent() || unclear == null) {
          return written;
        }
      } catch (UnclearOutcomeException e) {
        unclear = e;
      }
      Optional<VersionedDocument> found = documents.get(key);
      Version now = found.map(VersionedDocument::version).orElse(Version.NONE);
      if (!now.equals(expected)) {
        return found.filter(document -> document.json().equals(json)).map(document -> now);
      }
    }
    throw unclear;
  }

  /**
   * When a lease that begins now ends by the wall clock. It is never the same twice, even if that
   * clock goes back, because it identifies unclear writes. It is never 0, which means released.
   */
  private synchronized long expires() {
    lastExpires = Math.max(clock.wallMillis() + terms.leaseMillis(), lastExpires + 1);
    return lastExpires;
  }

  private HeldLock held(String key, LockDocument lock, Version version, long sentMillis) {
    return new HeldLock(
        key, lock, version, sentMillis + terms.leaseMillis(), sentMillis + terms.renewalMillis());
  }
}
