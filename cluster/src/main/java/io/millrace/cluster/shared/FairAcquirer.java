package io.millrace.cluster.shared;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.lock.Acquirer;
import io.millrace.cluster.lock.Lease;
import io.millrace.cluster.lock.Locks;
import io.millrace.cluster.lock.ObservedLocks;
import io.millrace.cluster.membership.MemberContext;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Acquires a named lock, or any one permit of a semaphore. If none is free, the member joins the
 * {@link WaitingQueue}. A free lock is reserved for the first member of the queue. The others may
 * take it if it stays free for {@value #TURN_MILLIS} ms, because a waiting member may have died. Of
 * several free permits it tries a random one first, so that members seldom try the same one.
 *
 * <p>A waiting member polls every {@value #POLL_MILLIS} ms with one read: of the lock, or of the
 * semaphore's queue, which names the permit that was released last. If the documents support
 * watches, it reads after each change and once a second.
 */
public final class FairAcquirer extends Acquirer {
  /** The polling interval of a waiting member. */
  static final long POLL_MILLIS = 100;

  /** How long a free lock is reserved for the first member of the queue. */
  static final long TURN_MILLIS = 1000;

  private static final Logger LOG = LoggerFactory.getLogger(FairAcquirer.class);

  /** The interval between reads of a free lock that another member may be taking. */
  private static final long TAKEN_MILLIS = 30;

  /**
   * The polling interval if the documents support watches, and the interval between listings of
   * permits.
   */
  private static final long SELDOM_MILLIS = 1000;

  /**
   * How much longer a free lock is reserved for each further member before this one, up to ten of
   * them.
   */
  private static final long NEXT_MILLIS = 50;

  private static final int MAX_NEXT = 10;

  private final MemberContext context;
  private final Locks locks;
  private final ObservedLocks observedLocks;
  private final List<String> keys;
  private final @Nullable Permits permits;
  private final String queueKey;
  private Supplier<Set<String>> justReleased = Set::of;
  private Runnable onChange = () -> {};
  private boolean joins = true;
  private boolean countChecked;
  private boolean queued;
  private WaitingQueue queue = WaitingQueue.EMPTY;
  private VersionedDocuments.@Nullable Watch watch;
  private Map<String, Version> free = Map.of();
  private long freeSinceMillis;
  private long listMillis = Long.MIN_VALUE;

  private FairAcquirer(
      String what,
      MemberContext context,
      Locks locks,
      ObservedLocks observedLocks,
      List<String> keys,
      @Nullable Permits permits) {
    super(what, locks);
    this.context = context;
    this.locks = locks;
    this.observedLocks = observedLocks;
    this.keys = keys;
    this.permits = permits;
    this.queueKey = WaitingQueue.key(permits == null ? keys.getFirst() : permits.key());
  }

  /**
   * Acquires the lock with a key.
   *
   * @param observedLocks what was seen of this lock; contains no other locks
   */
  public static FairAcquirer of(
      String key, MemberContext context, Locks locks, ObservedLocks observedLocks) {
    return new FairAcquirer("lock " + key, context, locks, observedLocks, List.of(key), null);
  }

  /**
   * Acquires any permit of a semaphore.
   *
   * @param observedLocks what was seen of its permits; contains no other locks
   */
  public static FairAcquirer of(
      Permits permits, MemberContext context, Locks locks, ObservedLocks observedLocks) {
    return new FairAcquirer(
        permits.toString(), context, locks, observedLocks, permits.keys(), permits);
  }

  /**
   * Sets how this acquirer works with the other threads of its member.
   *
   * @param justLeft supplies the keys of locks that this member has just released, which listings
   *     may not show
   * @param onNews called by any thread when {@link #pollNow} should be called
   * @param joinsQueue whether to wait in the queue; otherwise it tries only once
   */
  FairAcquirer with(Supplier<Set<String>> justLeft, Runnable onNews, boolean joinsQueue) {
    justReleased = justLeft;
    onChange = onNews;
    joins = joinsQueue;
    return this;
  }

  /**
   * Takes a free lock if it is this member's turn, and joins the queue otherwise.
   *
   * @throws IllegalArgumentException if the semaphore has another number of permits
   */
  @Override
  protected Optional<Locks.HeldLock> attempt() {
    if (permits != null && !countChecked) {
      permits.checkCount(context.documents());
      countChecked = true;
    }
    Set<String> released = new HashSet<>(justReleased.get());
    boolean readQueue = permits != null && queued;
    if (readQueue) {
      WaitingQueue before = queue;
      queue = WaitingQueue.read(context.documents(), queueKey);
      if (queue.equals(before) && released.isEmpty() && isUnchanged()) {
        return Optional.empty();
      }
      queue.released().ifPresent(released::add);
    }
    Map<String, VersionedDocument> found = find(released);
    List<String> candidates = candidates(found);
    if (!candidates.isEmpty()) {
      if (!readQueue) {
        queue = WaitingQueue.read(context.documents(), queueKey);
      }
      if (isTurn(candidates.size())) {
        for (String key : candidates) {
          VersionedDocument document = found.get(key);
          Optional<Locks.HeldLock> held =
              document == null ? locks.create(key) : locks.take(document);
          if (held.isPresent()) {
            leaveQueue(queue.place(context.token()) >= candidates.size());
            return held;
          }
        }
      }
    }
    join(!candidates.isEmpty() || readQueue);
    return Optional.empty();
  }

  /**
   * Whether no permit can have become free or reached this member's turn since the last listing, if
   * the queue is unchanged. Each release changes the queue, and so does the member that takes a
   * free permit in its turn.
   */
  private boolean isUnchanged() {
    return context.now() < listMillis
        && (free.isEmpty() || !isTurn(free.size()))
        && keys.stream().noneMatch(key -> observedLocks.isFree(key) && !free.containsKey(key));
  }

  /** The existing documents of the locks. */
  private Map<String, VersionedDocument> find(Set<String> released) {
    Map<String, VersionedDocument> found = new HashMap<>();
    if (permits != null) {
      context.documents().list(permits.prefix()).forEach(each -> found.put(each.key(), each));
    }
    listMillis = context.now() + SELDOM_MILLIS;
    for (String key : permits == null ? keys : listingsAreCurrent() ? Set.<String>of() : released) {
      context.documents().get(key).ifPresent(document -> found.put(key, document));
    }
    found.keySet().retainAll(Set.copyOf(keys));
    observedLocks.retain("", found.keySet());
    found.values().forEach(observedLocks::observe);
    return found;
  }

  private boolean listingsAreCurrent() {
    return context.documents().listingAgeMillis() == 0;
  }

  /** The keys of the locks that may be taken, in the order in which to try them. */
  private List<String> candidates(Map<String, VersionedDocument> found) {
    List<String> candidates = new ArrayList<>(keys);
    candidates.removeIf(key -> found.containsKey(key) && !observedLocks.isFree(key));
    Map<String, Version> versions = new HashMap<>();
    for (String key : candidates) {
      VersionedDocument document = found.get(key);
      versions.put(key, document == null ? Version.NONE : document.version());
    }
    if (!versions.equals(free)) {
      free = versions;
      freeSinceMillis = context.now();
    }
    if (candidates.size() > 1) {
      Collections.rotate(candidates, context.random().nextInt(candidates.size()));
    }
    return candidates;
  }

  private boolean isTurn(int locks) {
    int before = queue.place(context.token()) - locks;
    return before < 0
        || context.now() - freeSinceMillis
            >= TURN_MILLIS + NEXT_MILLIS * Math.min(before, MAX_NEXT);
  }

  /**
   * Joins the queue, unless this member is in it.
   *
   * @param wasRead whether the queue was read in this attempt
   */
  private void join(boolean wasRead) {
    if (!joins || (queued && (!wasRead || queue.isWaiting(context.token())))) {
      return;
    }
    queue = WaitingQueue.join(context.documents(), queueKey, context.token());
    queued = true;
    // A lock may have been released just before this member joined.
    listMillis = Long.MIN_VALUE;
    if (watch == null) {
      String watched = permits == null ? keys.getFirst() : queueKey;
      watch = context.documents().watch(watched, onChange).orElse(null);
    }
  }

  private void leaveQueue(boolean withAllBefore) {
    if (queued || queue.isWaiting(context.token()) || withAllBefore) {
      queued = false;
      try {
        WaitingQueue.leave(context.documents(), queueKey, context.token(), withAllBefore);
      } catch (ClusterException e) {
        LOG.debug("{} still names this member, which no longer waits", queueKey, e);
      }
    }
  }

  @Override
  protected long nextPoll() {
    long now = context.now();
    if (!free.isEmpty()) {
      boolean isNext = queue.place(context.token()) <= free.size();
      return now + (isNext || isTurn(free.size()) ? TAKEN_MILLIS : POLL_MILLIS);
    }
    if (watch == null || listMillis == Long.MIN_VALUE) {
      return now + POLL_MILLIS;
    }
    long expires =
        keys.stream().mapToLong(key -> observedLocks.nextPoll(key).orElse(now)).min().orElse(now);
    return Math.clamp(expires, now + POLL_MILLIS, now + SELDOM_MILLIS);
  }

  /** Records which permit is free, for waiting members. */
  @Override
  protected void released(Lease lease) {
    if (permits != null) {
      try {
        WaitingQueue.recordReleased(context.documents(), queueKey, lease.key(), lease.fence());
      } catch (ClusterException e) {
        LOG.debug("{} could not be updated with the released {}", queueKey, lease.key(), e);
      }
    }
  }

  /** Leaves the queue, whether or not the lock is held. */
  void stopWaiting() {
    if (watch != null) {
      watch.close();
      watch = null;
    }
    if (queued) {
      leaveQueue(false);
    }
  }
}
