package io.millrace.cluster.lock;

import io.millrace.cluster.documents.DocumentsUnavailableException;
import io.millrace.cluster.documents.UnclearOutcomeException;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.time.MemberClock;
import java.util.Optional;

/**
 * The writes by which one member takes, renews and gives back locks. It judges nothing: who may
 * take a lock, {@link Sightings} knows. Safe for use by any number of threads, of which no two try
 * to take the same lock at a time.
 *
 * <p>Every method throws {@link DocumentsUnavailableException} where nothing was written, and
 * {@link UnclearOutcomeException} where that cannot be told; nothing is held by a call that threw.
 */
public final class Locks {
  private final VersionedDocuments documents;
  private final Clearing clearing;
  private final Fences fences;
  private final String token;
  private final LeaseTerms terms;
  private final MemberClock clock;
  private long lastExpires;

  /**
   * The locks of one member.
   *
   * @param token what tells this member from all others, such as a random UUID
   */
  public Locks(VersionedDocuments documents, String token, LeaseTerms terms, MemberClock clock) {
    this.documents = documents;
    this.clearing = new Clearing(documents);
    this.fences = new Fences(documents);
    this.token = token;
    this.terms = terms;
    this.clock = clock;
  }

  /** The terms by which the locks are held. */
  LeaseTerms terms() {
    return terms;
  }

  /** The token of the member. */
  public String token() {
    return token;
  }

  /**
   * Makes the document of a lock that has none, and holds it.
   *
   * @return the lock, or empty where somebody was faster
   */
  public Optional<Held> create(String key) {
    return write(key, Version.NONE, new LockDocument("", 0, fences.reserve(1), null));
  }

  /**
   * Reserves fences for documents that {@link #offer} is to make.
   *
   * @return the fence that the first of them begins with; each next one is {@link #offerStep}
   *     higher
   */
  public long reserve(int documents) {
    return fences.reserve(documents);
  }

  /** How far the fences of two reserved documents are apart. */
  public static long offerStep() {
    return Fences.BLOCK;
  }

  /**
   * Makes the document of a partition that nobody holds.
   *
   * @param fence one that was reserved for it
   * @return whether it is there now; false where another one of that key was there
   */
  public boolean offer(String key, PartitionTask charge, long fence) {
    String json = LockForm.write(new LockDocument("", 0, fence, charge));
    return clearing.write(key, Version.NONE, json).isPresent();
  }

  /**
   * Takes a lock that may be taken.
   *
   * @param document its state as it was seen
   * @return the lock, or empty where it has another state by now
   */
  public Optional<Held> take(VersionedDocument document) {
    return write(document.key(), document.version(), LockForm.read(document));
  }

  private Optional<Held> write(String key, Version expected, LockDocument before) {
    long fence = fences.after(before.fence());
    long sent = clock.monotonicMillis();
    LockDocument taken = before.taken(token, expires(), fence);
    return clearing
        .write(key, expected, LockForm.write(taken))
        .map(version -> held(key, taken, version, sent));
  }

  /**
   * Prolongs a lease. One that has ended is not prolonged, whatever its document says.
   *
   * @return the prolonged lease, or empty where it is lost
   */
  public Optional<Held> renew(Held held) {
    long sent = clock.monotonicMillis();
    if (sent >= held.untilMillis()) {
      return Optional.empty();
    }
    LockDocument renewed = held.lock().renewed(expires());
    return change(held, renewed)
        .filter(version -> clock.monotonicMillis() < held.untilMillis())
        .map(version -> held(held.key(), renewed, version, sent));
  }

  /** Gives a lock back, so that anybody may take it at once; whether it was still ours. */
  public boolean release(Held held) {
    return change(held, held.lock().released()).isPresent();
  }

  /**
   * Marks a partition as done and gives it back; whether it was still ours, and so is done by us.
   */
  public boolean finish(Held held) {
    return change(held, held.lock().done()).isPresent();
  }

  /**
   * Writes what holder and fence of a lock show to be ours to change. Its version may be newer than
   * the one that is known, where an earlier write of ours came through after all; that may have
   * been this very one.
   */
  private Optional<Version> change(Held held, LockDocument next) {
    String json = LockForm.write(next);
    Optional<Version> version = clearing.write(held.key(), held.version(), json);
    if (version.isPresent()) {
      return version;
    }
    Optional<VersionedDocument> found = documents.get(held.key());
    if (found.isEmpty()) {
      return Optional.empty();
    }
    LockDocument now = LockForm.read(found.get());
    if (now.equals(next)) {
      return Optional.of(found.get().version());
    }
    return isOurs(now, held)
        ? clearing.write(held.key(), found.get().version(), json)
        : Optional.empty();
  }

  private boolean isOurs(LockDocument lock, Held held) {
    return lock.holder().equals(token) && lock.fence() == held.fence() && !lock.isReleased();
  }

  /**
   * When a lease that begins now ends by the wall clock. Never the same twice, however that clock
   * goes, since an outcome that is unclear is told by it; and never 0, which stands for released.
   */
  private synchronized long expires() {
    lastExpires = Math.max(clock.wallMillis() + terms.leaseMillis(), lastExpires + 1);
    return lastExpires;
  }

  private Held held(String key, LockDocument lock, Version version, long sentMillis) {
    return new Held(
        key, lock, version, sentMillis + terms.leaseMillis(), sentMillis + terms.renewalMillis());
  }
}
