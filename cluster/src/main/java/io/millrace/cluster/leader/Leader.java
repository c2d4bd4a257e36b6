package io.millrace.cluster.leader;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.lock.LockDocument;
import io.millrace.cluster.lock.Locks;
import io.millrace.cluster.lock.Sightings;
import io.millrace.cluster.membership.MemberList;
import io.millrace.cluster.membership.Members;
import io.millrace.cluster.membership.Peer;
import io.millrace.cluster.membership.Presence;
import io.millrace.cluster.membership.Station;
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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Leads while it holds the lock for that: cleans up the list of members and gives out work. Driven
 * by {@link #step}; used by one thread.
 */
public final class Leader {
  /** The key of the lock that makes a leader. */
  public static final String KEY = "leader";

  private static final Logger LOG = LoggerFactory.getLogger(Leader.class);
  private static final int TURNS = 8;
  private static final long BUSY_MILLIS = 200;

  private final Station station;
  private final Handout handout;
  private final Sightings sightings;
  private final Members members;
  private final Generation generation;
  private final Board board;
  private final Absences absences;
  private final LeftReports leftReports;
  private final AtomicBoolean dividesAnew = new AtomicBoolean();
  private long leads = -1;
  private long beganMillis;
  private @Nullable MemberList known;

  private Leader(Station station, Handout handout, String token) {
    this.station = station;
    this.handout = handout;
    this.sightings = new Sightings(station.terms(), station.clock());
    this.members = new Members(station.documents());
    this.generation = new Generation(station.documents());
    this.absences = new Absences(station.terms());
    this.leftReports = new LeftReports(station);
    this.board =
        new Board(
            station,
            new Locks(station.documents(), token, station.terms(), station.clock()),
            sightings);
  }

  /** Leads windowed work. */
  public static Leader of(Station station, WindowedWork work) {
    return new Leader(station, new WindowedHandout(work), station.peer().token());
  }

  /** Leads supervised work. */
  public static Leader of(Station station, SupervisedWork work) {
    return new Leader(
        station, new SupervisedHandout(work, station.terms()), station.peer().token());
  }

  /** Leads by a way of giving out work that is not one of the three. */
  public static Leader of(Station station, Handout handout) {
    return new Leader(station, handout, station.peer().token());
  }

  /** What this member has seen of partitions and of members' locks, whether it leads or not. */
  public Sightings sightings() {
    return sightings;
  }

  /** Does not lead. To be called instead of {@link #step} as long as that is so. */
  public void rest() {
    if (leads >= 0) {
      LOG.info("Member {} leads no more; its fence was {}", station.peer().token(), leads);
      leads = -1;
    }
    handout.rest();
  }

  /**
   * Whether the lock should be taken anew, for the sake of a new generation. Asked once; by any
   * thread.
   */
  public boolean takeWish() {
    return dividesAnew.getAndSet(false);
  }

  /**
   * Does what a leader has to do now.
   *
   * @param guard proof that the caller leads
   * @return when to call again, by the monotonic clock
   */
  public long step(Guard guard) {
    boolean busy = false;
    try {
      guard.check();
      if (leads == guard.fence() || begin(guard.fence())) {
        busy = turn(guard);
      }
    } catch (ClusterException e) {
      LOG.debug("A turn of the leader was broken off, and will be tried again", e);
    }
    long pause = station.terms().lease().toMillis() / TURNS;
    return station.now() + (busy ? Math.min(pause, BUSY_MILLIS) : pause);
  }

  private boolean begin(long fence) {
    if (!generation.begin(fence)) {
      return false;
    }
    leads = fence;
    beganMillis = station.now();
    board.begin(fence);
    absences.begin();
    known = null;
    LOG.info("Member {} leads with fence {}", station.peer().token(), fence);
    return true;
  }

  private boolean turn(Guard guard) {
    List<Partition> partitions =
        Partition.of(station.documents().list(PartitionName.PREFIX), sightings);
    MemberList living = cleanUp(guard, partitions);
    Turn turn = new Turn(guard, partitions, living, beganMillis, station.now());
    board.tidy(turn);
    Handout.Result result = handout.take(turn, board);
    if (result == Handout.Result.DIVIDE_ANEW) {
      dividesAnew.set(true);
    }
    return result != Handout.Result.IDLE;
  }

  /** Takes those who are gone out of the list, and removes the locks of those who are not in it. */
  private MemberList cleanUp(Guard guard, List<Partition> partitions) {
    Map<String, Long> signs = new HashMap<>();
    for (Partition partition : partitions) {
      note(partition.key(), partition.lock(), signs);
    }
    List<VersionedDocument> own = station.documents().list(Presence.PREFIX);
    sightings.see(Presence.PREFIX, own);
    own.forEach(document -> note(document.key(), sightings.see(document), signs));
    MemberList list = members.list();
    Set<String> gone = absences.gone(list, signs, station.now());
    if (!gone.isEmpty()) {
      guard.check();
      LOG.info("Members {} are gone: their locks have not changed for lease and margin", gone);
      list = members.remove(gone);
    }
    for (VersionedDocument document : own) {
      String token = document.key().substring(Presence.PREFIX.length());
      if (list.find(token).isEmpty() && sightings.isFree(document.key())) {
        guard.check();
        station.documents().delete(document.key(), document.version());
      }
    }
    leftReports.step(guard, list);
    logChanges(list, gone);
    return list;
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

  private void note(String key, LockDocument lock, Map<String, Long> signs) {
    if (!lock.holder().isEmpty()) {
      signs.merge(lock.holder(), sightings.sinceMillis(key), Math::max);
    }
  }
}
