package io.millrace.cluster.leader;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.lock.LockDocument;
import io.millrace.cluster.lock.ObservedLocks;
import io.millrace.cluster.membership.MemberContext;
import io.millrace.cluster.membership.MemberList;
import io.millrace.cluster.membership.MemberRegistration;
import io.millrace.cluster.membership.Peer;
import io.millrace.cluster.membership.Report;
import io.millrace.cluster.partition.Generation;
import io.millrace.cluster.partition.Partition;
import io.millrace.cluster.partition.PartitionName;
import io.millrace.cluster.work.SupervisedWork;
import io.millrace.cluster.work.WindowedWork;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Leads the cluster while the member holds the leader's lock: removes members that are gone from
 * the list, and assigns work. Driven by {@link #step}; used by one thread.
 */
public final class Leader {
  /** The key of the leader's lock. */
  public static final String KEY = "leader";

  private static final Logger LOG = LoggerFactory.getLogger(Leader.class);
  private static final int ROUNDS = 8;
  private static final long MAX_PAUSE_MILLIS = 1000;
  private static final long BUSY_MILLIS = 100;

  private final MemberContext context;
  private final Assigner assigner;
  private final ObservedLocks observedLocks;
  private final Assignments assignments;
  private final LivenessTracker liveness;
  private final AbandonedDocuments reports;
  private final AtomicBoolean generationRequested = new AtomicBoolean();
  private long leads = -1;
  private long beganMillis;
  private @Nullable MemberList known;

  /** Leads windowed work. */
  public Leader(MemberContext context, WindowedWork work) {
    this(context, new Assigner.Windowed(work));
  }

  /** Leads supervised work. */
  public Leader(MemberContext context, SupervisedWork work) {
    this(context, new Assigner.Supervised(work, context.documents().listingAgeMillis()));
  }

  /** Leads work with its own assigner. */
  public Leader(MemberContext context, Assigner assigner) {
    this.context = context;
    this.assigner = assigner;
    this.observedLocks = context.newObservedLocks();
    this.liveness = new LivenessTracker(context.terms().takeoverMillis());
    this.reports = new AbandonedDocuments(context, Report.PREFIX);
    this.assignments = new Assignments(context, observedLocks);
  }

  /** What this member has seen of partitions and of members' locks, whether it leads or not. */
  public ObservedLocks observedLocks() {
    return observedLocks;
  }

  /** Called instead of {@link #step} while this member does not lead. */
  public void standBy() {
    if (leads >= 0) {
      LOG.info("Member {} does not lead any more; its fence was {}", context.token(), leads);
      leads = -1;
    }
    assigner.standBy();
  }

  /**
   * Whether the lock must be taken again to begin a new generation; clears the request. May be
   * called by any thread.
   */
  public boolean takeGenerationRequest() {
    return generationRequested.getAndSet(false);
  }

  /**
   * Whether a new generation is requested; unlike {@link #takeGenerationRequest}, keeps the
   * request.
   */
  public boolean wantsNewGeneration() {
    return generationRequested.get();
  }

  /**
   * Runs a round of the leader.
   *
   * @param guard proof that the caller leads
   * @return when to call again, by the monotonic clock
   */
  public long step(Guard guard) {
    boolean busy = false;
    long gone = Long.MAX_VALUE;
    try {
      guard.check();
      if (leads == guard.fence() || begin(guard.fence())) {
        busy = round(guard);
        gone = liveness.nextGoneMillis();
      }
    } catch (ClusterException e) {
      LOG.debug("A round of the leader failed; retrying", e);
    }
    long pause = Math.min(context.leaseMillis() / ROUNDS, busy ? BUSY_MILLIS : MAX_PAUSE_MILLIS);
    return Math.clamp(gone, context.now() + 1, context.now() + pause);
  }

  private boolean begin(long fence) {
    if (!Generation.begin(context.documents(), fence)) {
      return false;
    }
    if (leads < 0) {
      known = null;
    }
    leads = fence;
    beganMillis = context.now();
    assignments.begin(fence);
    liveness.clear();
    LOG.info("Member {} leads with fence {}", context.token(), fence);
    return true;
  }

  private boolean round(Guard guard) {
    long generationAge = context.now() - beganMillis;
    List<Partition> partitions =
        Partition.of(context.documents().list(PartitionName.PREFIX), observedLocks);
    MemberList living = cleanUp(guard, partitions);
    Assigner.Round round =
        new Assigner.Round(guard, partitions, living, generationAge, context.now());
    assignments.forgetRemoved(round);
    Assigner.Result result = assigner.assign(round, assignments);
    assignments.createPlanned(guard);
    if (result == Assigner.Result.NEW_GENERATION) {
      generationRequested.set(true);
    }
    return result != Assigner.Result.IDLE;
  }

  /** Removes members that are gone from the list, and the locks of members that are not in it. */
  private MemberList cleanUp(Guard guard, List<Partition> partitions) {
    Map<String, Long> signs = new HashMap<>();
    for (Partition partition : partitions) {
      note(partition.key(), partition.lock(), signs);
    }
    List<VersionedDocument> own = context.documents().list(MemberRegistration.PREFIX);
    observedLocks.observe(MemberRegistration.PREFIX, own);
    own.forEach(document -> note(document.key(), observedLocks.observe(document), signs));
    MemberList list = MemberList.read(context.documents());
    Set<String> listed = list.nodes().stream().map(Peer::token).collect(Collectors.toSet());
    Set<String> gone = liveness.gone(listed, signs, context.now());
    if (!gone.isEmpty()) {
      guard.check();
      LOG.info("Members {} are gone: their locks have not changed for lease and margin", gone);
      list = MemberList.remove(context.documents(), gone);
    }
    for (VersionedDocument document : own) {
      String token = document.key().substring(MemberRegistration.PREFIX.length());
      if (list.find(token).isEmpty() && observedLocks.isFree(document)) {
        guard.check();
        context.documents().delete(document.key(), document.version());
      }
    }
    MemberList living = list;
    reports.sweep(guard, key -> living.find(Report.token(key)).isPresent());
    logChanges(living, gone);
    return living;
  }

  private void note(String key, LockDocument lock, Map<String, Long> signs) {
    if (!lock.holder().isEmpty()) {
      signs.merge(lock.holder(), observedLocks.sinceMillis(key), Math::max);
    }
  }

  private void logChanges(MemberList list, Set<String> gone) {
    if (known != null && !known.equals(list)) {
      known.without(gone).nodes().stream()
          .filter(peer -> list.find(peer.token()).isEmpty())
          .forEach(peer -> LOG.info("Member {} has left", peer.token()));
      for (Peer peer : list.nodes()) {
        if (known.find(peer.token()).isEmpty()) {
          LOG.info("Member {} has joined with {} workers", peer.token(), peer.workers());
        }
      }
    }
    known = list;
  }
}
