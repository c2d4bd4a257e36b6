package io.millrace.cluster.remote.dispatch;

import io.millrace.cluster.leader.Assigner;
import io.millrace.cluster.leader.LivenessTracker;
import io.millrace.cluster.membership.DeathMarks;
import io.millrace.cluster.membership.MemberContext;
import io.millrace.cluster.membership.MemberList;
import io.millrace.cluster.membership.MemberRegistration;
import io.millrace.cluster.membership.Peer;
import io.millrace.cluster.partition.Partition;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The members that are marked as dead, as one leader knows them. Removes them from the list of
 * members, and removes the marks of members that are gone. Used by one thread.
 */
final class DeadMembers {
  private static final Logger LOG = LoggerFactory.getLogger(DeadMembers.class);

  /** The number of leases without a sign of life after which a mark is removed. */
  private static final int GONE_LEASES = 3;

  private final MemberContext context;
  private final LivenessTracker marked;

  DeadMembers(MemberContext context) {
    this.context = context;
    this.marked = new LivenessTracker(GONE_LEASES * context.leaseMillis());
  }

  void begin() {
    marked.clear();
  }

  void add(String token) {
    if (!marked.tokens().contains(token)) {
      marked.sign(token, context.now());
    }
  }

  Set<String> tokens() {
    return marked.tokens();
  }

  /**
   * Finds out which members are marked, and removes them from the list. Each change is read again,
   * because a listing may be stale.
   */
  void poll(Assigner.Round round) {
    Set<String> listed = DeathMarks.list(context.documents());
    Set<String> known = marked.tokens();
    Set<String> changed =
        Stream.concat(listed.stream(), known.stream())
            .filter(token -> listed.contains(token) != known.contains(token))
            .collect(Collectors.toSet());
    for (String token : changed) {
      if (DeathMarks.isMarked(context.documents(), token)) {
        add(token);
      } else {
        marked.remove(token);
      }
    }
    removeFromList(round);
    forgetGone(round);
  }

  private void removeFromList(Assigner.Round round) {
    Set<String> dead = marked.tokens();
    Set<String> there =
        round.members().nodes().stream()
            .map(Peer::token)
            .filter(dead::contains)
            .collect(Collectors.toSet());
    if (!there.isEmpty()) {
      round.guard().check();
      LOG.info("Members {} are marked as dead, and removed from the list", there);
      MemberList.remove(context.documents(), there);
    }
  }

  /**
   * Removes the marks of members that are gone. A member that is alive holds a partition or its own
   * lock until it removes its mark itself.
   */
  private void forgetGone(Assigner.Round round) {
    Map<String, Long> signs =
        round.partitions().stream()
            .filter(Partition::isOutstanding)
            .map(partition -> partition.lock().holder())
            .distinct()
            .collect(Collectors.toMap(Function.identity(), _ -> round.nowMillis()));
    for (String token : marked.gone(marked.tokens(), signs, round.nowMillis())) {
      if (context.documents().get(MemberRegistration.PREFIX + token).isPresent()) {
        marked.sign(token, round.nowMillis());
      } else {
        round.guard().check();
        if (DeathMarks.clear(context.documents(), token)) {
          marked.remove(token);
        }
      }
    }
  }
}
